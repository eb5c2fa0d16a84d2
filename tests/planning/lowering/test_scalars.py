"""Quantized reductions of all axes without kept dimensions: a scalar, on every kind of machine."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tests.frontend.quantized_onnx import Builder

TARGETS = {"cores": {"target": "c", "soc": "siracusa"}, "neureka": {"target": "uma-neureka"}}


@pytest.mark.parametrize(
    ("operator", "target"),
    [("ReduceMean", "cores"), ("ReduceMax", "cores"), ("ReduceL2", "cores"), ("ReduceMean", "neureka")],
)
def test_reduction_to_a_scalar(tmp_path: Path, operator: str, target: str) -> None:
    g = Builder(np.random.default_rng(8))
    x, scale, zero = g.integers([2, 3, 4], "int8")
    made = g.node(operator, [g.node("DequantizeLinear", [x, scale, zero])], keepdims=0)
    parameters = [g.constant(np.float32(0.05)), g.constant(np.array(3, np.int8))]
    result = g.node("DequantizeLinear", [g.node("QuantizeLinear", [made, *parameters]), *parameters])
    model = g.typed_model([result])
    model.opset_import[0].version, model.ir_version = 21, 10
    onnx.save(model, tmp_path / "model.onnx")
    (found,) = tvm_pulp.compile(tmp_path / "model.onnx", **TARGETS[target]).run(g.feeds).outputs.values()
    (wanted,) = ReferenceEvaluator(model).run(None, g.feeds)
    assert found.shape == ()
    np.testing.assert_allclose(found, wanted, atol=1e-6)
