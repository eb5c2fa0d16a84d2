"""Splits into one part, which TVM gives the type of the part, disappear; others stay."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvm_pulp
from tests.frontend.quantized_onnx import Builder, onnxruntime_run


def _model(builder: Builder, operand: str, quantized: bool, parts: int) -> onnx.ModelProto:
    sizes = builder.constant(np.full(parts, 6 // parts, np.int64))
    names = builder.node("Split", [operand, sizes], parts, axis=1)
    made = [builder.node("Tanh", [name]) for name in ([names] if parts == 1 else names)]
    if quantized:
        made = [
            builder.node("QuantizeLinear", [name, builder.constant(np.float32(0.01)), builder.constant(np.int8(3))])
            for name in made
        ]
    return builder.typed_model(made)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("quantized", [True, False])
def test_parts_are_those_of_onnxruntime(quantized: bool, parts: int, tmp_path: Path) -> None:
    builder = Builder(np.random.default_rng(1))
    if quantized:
        model = _model(builder, builder.activation([2, 6], "int8"), True, parts)
    else:
        builder.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 6]))
        builder.feeds["x"] = builder.rng.normal(size=(2, 6)).astype(np.float32)
        model = _model(builder, "x", False, parts)
    onnx.save(model, tmp_path / "split.onnx")
    outputs = tvm_pulp.compile(tmp_path / "split.onnx").run(builder.feeds).outputs
    for found, expected in zip(outputs.values(), onnxruntime_run(model, builder.feeds), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
