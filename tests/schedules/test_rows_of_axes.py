"""Sums with a row of several axes, and products by a number: as TFLite's reference kernels, by fast kernels."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.frontend.single_tflite import Tensor, options_of, reference_run, write

pytest.importorskip("ai_edge_litert", reason="TFLite's reference kernels: ai-edge-litert")


@pytest.mark.parametrize(
    ("operator", "shape", "form"),
    [("ADD", (4, 8), "add kernel"), ("ADD", (30, 4, 8), "add kernel"), ("MUL", (), "lookup kernel")],
)
def test_on_the_cluster(operator: str, shape: tuple[int, ...], form: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(shape))
    constant = Tensor(shape, "int8", 0.02, 7, rng.integers(-128, 128, shape).astype(np.int8))
    operands = [Tensor((2, 30, 4, 8), "int8", 0.05, -12), constant]
    options = options_of(f"{operator.title()}Options", fusedActivationFunction=0)
    write(tmp_path / "net.tflite", operator, operands, Tensor((2, 30, 4, 8), "int8", 0.06, 3), options)
    x = rng.integers(-128, 128, (2, 30, 4, 8)).astype(np.int8)
    run = tvm_pulp.compile(tmp_path / "net.tflite", "c", soc="siracusa").run([x])
    (found,) = run.outputs.values()
    assert np.array_equal(found, reference_run(tmp_path / "net.tflite", [x]))
    assert [entry["form"] for entry in run.report["layers"]] == [form]
