"""Constant numbers that a quantizer put a chain of operators behind: nothing of it is left to run."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tests.frontend.quantized_onnx import Builder

# What is done with the tensor and the number, and what runs.
CASES = {
    "product": (["Mul"], {"quantize", "lookup", "dequantize"}),
    "root": (["Sqrt", "Mul"], {"quantize", "lookup", "dequantize"}),
    "bound": (["Clip"], {"quantize", "lookup", "dequantize"}),
    "matrices": (["Mul", "MatMul"], {"quantize", "float_map", "float_matmul", "dequantize"}),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_known(tmp_path: Path, case: str) -> None:
    steps, expected = CASES[case]
    g = Builder(np.random.default_rng(4))
    x = np.random.default_rng(5).normal(size=(1, 2, 6, 6)).astype(np.float32)
    g.inputs.append(onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x.shape))

    def coded(real: str, scale: float, zero: int) -> str:
        parameters = [g.constant(np.float32(scale)), g.constant(np.uint8(zero))]
        return str(g.node("DequantizeLinear", [g.node("QuantizeLinear", [real, *parameters]), *parameters]))

    number = coded(g.node("Constant", [], value=onnx.numpy_helper.from_array(np.array(0.5, np.float32))), 0.01, 0)
    real = coded("x", 0.03, 100)
    for step in steps:
        if step == "Sqrt":
            number = coded(g.node("Sqrt", [number]), 0.01, 0)
        else:
            others = {"Clip": ["", number], "MatMul": [real]}.get(step, [number])
            real = g.node(step, [real, *others])
    g.node("Identity", [coded(real, 0.05, 90)])
    model = g.typed_model([g.nodes[-1].output[0]])
    model.opset_import[0].version, model.ir_version = 21, 10
    onnx.save(model, tmp_path / "model.onnx")
    ran = tvm_pulp.compile(tmp_path / "model.onnx", target="c", soc="siracusa").run({"x": x})
    assert {layer["op"] for layer in ran.report["layers"]} == expected
    (found,), (wanted,) = ran.outputs.values(), ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_allclose(found, wanted, atol=1e-6 if case != "matrices" else 0.0501)
