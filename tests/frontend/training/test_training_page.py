"""docs/training.md as it stands: train, compile, and the simulated chip gives the model's own outputs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = "docs/training.md"
RUN = """
import re, sys
import numpy as np
blocks = re.findall(r"```python\\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S)
made = {}
for block in (blocks[1], next(b for b in blocks if b.startswith(f"import {sys.argv[2]}\\n"))):
    exec(block, made)
(found,) = made["compiled"].outputs.values()
trained, labels = made["trained"], made["labels"][made["test"]]
assert np.array_equal(found.reshape(trained.shape), trained), np.abs(found.reshape(trained.shape) - trained).max()
assert len(np.unique(trained)) > 20
assert made["compiled"].accuracy == (trained.argmax(-1) == labels).mean() >= 0.95
x = made["data"][:1].numpy() if "data" in made else made["images"][:1]
layers = [layer["op"] for layer in made["app"].run([x]).report["layers"]]
integer = {"quantize", "quantize_channels_last", "conv2d", "avg_pool", "reduce", "requantize", "dense", "dequantize"}
assert {"conv2d", "dense"} <= {*layers} <= integer, layers
"""


def check(repository: Path, framework: str, backend: str = "jax") -> None:
    """In a process: Keras reads its backend when it is imported."""
    pytest.importorskip(framework, reason=f"scripts/install_framework installs {framework}")
    command = [sys.executable, "-c", RUN, str(repository / PAGE), framework]
    settings = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.torch
def test_pytorch(repository: Path) -> None:
    check(repository, "torch")


@pytest.mark.slow
@pytest.mark.jax
def test_jax(repository: Path) -> None:
    pytest.importorskip("flax", reason="scripts/test --jax installs it")
    check(repository, "jax")


@pytest.mark.slow
@pytest.mark.jax
def test_keras_by_jax(repository: Path) -> None:
    pytest.importorskip("jax", reason="scripts/test --jax installs it")
    check(repository, "keras")


@pytest.mark.slow
@pytest.mark.tensorflow
def test_keras_by_tensorflow(repository: Path) -> None:
    pytest.importorskip("tensorflow", reason="scripts/test --tensorflow installs it")
    check(repository, "keras", "tensorflow")


@pytest.mark.slow
@pytest.mark.torch
def test_keras_by_pytorch(repository: Path) -> None:
    pytest.importorskip("torch", reason="scripts/test --torch installs it")
    check(repository, "keras", "torch")


def test_the_page_has_a_block_for_each() -> None:
    text = (Path(__file__).resolve().parents[3] / PAGE).read_text(encoding="utf-8")
    assert re.findall(r"```python\nimport (\w+)", text) == ["numpy", "torch", "keras", "jax"]
