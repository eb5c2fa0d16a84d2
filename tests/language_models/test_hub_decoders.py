"""Decoders of `transformers` as exporters write them: the logits of onnxruntime without graph optimizations."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.language_models.exported.test_program import CAPACITY, CHUNK, Device
from tests.language_models.exported_decoders import Reference
from tests.language_models.hub_decoders import FAMILIES, VOCABULARY, exported_model
from tvm_pulp.language_models.session import GenerationRequest

pytestmark = pytest.mark.torch
EXPORTERS, WAYS = ("torchscript", "dynamo"), ("float", "static", "dynamic", "nbits")
# These run with all tests that need PyTorch; the whole matrix is slow.
COVER = {
    ("llama", "torchscript", "static"),
    ("gpt2", "torchscript", "float"),
    ("gpt2", "dynamo", "static"),
    ("mistral_window", "torchscript", "nbits"),
    ("phi", "torchscript", "dynamic"),
}
MATRIX = [
    pytest.param(*cell, marks=[] if cell in COVER else pytest.mark.slow) for cell in product(FAMILIES, EXPORTERS, WAYS)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hub")


def expected_logits(content: bytes, text: list[int]) -> np.ndarray:
    reference = Reference(content)
    return np.concatenate([reference.see([token]) for token in text])


def check(found: np.ndarray, expected: np.ndarray, how: str) -> None:
    """Equal where everything is integers; else the same tokens but for ties."""
    if how == "static":
        np.testing.assert_array_equal(found, expected)
        return
    np.testing.assert_allclose(found, expected, atol=0.05 if how == "dynamic" else 1e-4)
    best = np.take_along_axis(expected, found.argmax(1)[:, None], 1)[:, 0]
    assert how == "dynamic" or (expected.max(1) - best < 1e-4).all()


@pytest.mark.parametrize(("family", "exporter", "how"), MATRIX)
def test_programs_compute_what_the_file_computes(family: str, exporter: str, how: str, folder: Path) -> None:
    content = exported_model(family, exporter, how, folder)
    text = np.random.default_rng(3).integers(3, VOCABULARY, CAPACITY).tolist()
    # Where ranges come from the values themselves, tokens that are seen together change each other.
    chunk = 1 if how == "dynamic" else CHUNK
    device = Device(content, chunk)
    seen = 2 * chunk
    parts = [text[:chunk], text[chunk:seen], *([token] for token in text[seen:])]
    check(np.concatenate([device.see(part) for part in parts]), expected_logits(content, text), how)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "exporter", "how"), list(product(FAMILIES, EXPORTERS, WAYS)))
def test_the_simulated_chip_generates_the_tokens_of_the_file(
    family: str, exporter: str, how: str, folder: Path
) -> None:
    content = exported_model(family, exporter, how, folder)
    path = folder / f"{family}_{exporter}_{how}.onnx"
    path.write_bytes(content)
    text = np.random.default_rng(3).integers(3, VOCABULARY, CAPACITY).tolist()
    app = tvm_pulp.compile(path, target="c", soc="siracusa", capacity=CAPACITY, planner="greedy")
    request = GenerationRequest(text[:5], CAPACITY - 4, forced=text[5:], keep_logits=True)
    found = app.generator().generate(request).logits
    assert found is not None
    check(found, expected_logits(content, text), how)
