"""Emitted C also links where the compiler optimizes nothing: it keeps static functions that nobody calls."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.frontend.single_onnx import node_model


@pytest.mark.parametrize("operator", ["Sigmoid", "Pow"])
def test_links_without_optimization(tmp_path: Path, operator: str) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is here")
    x = np.ones((2, 3), np.float32)
    onnx.save(node_model(operator, [x] * (2 if operator == "Pow" else 1)), tmp_path / "model.onnx")
    app = tvm_pulp.compile(tmp_path / "model.onnx")
    for name, content in app.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    sources = [*tmp_path.glob("codegen/host/src/*.c"), *tmp_path.glob("runtime/**/*.c")]
    folders = [f"-I{tmp_path / f}" for f in ("codegen/host/include", "runtime/include", "runtime/math")]
    made = tmp_path / "network.so"
    options = ["-O0", "-std=c11", "-fPIC", "-shared", "-Wl,--no-undefined", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *options, *folders, *map(str, sources), "-o", str(made)], check=True)
    assert made.stat().st_size
