"""Float biases beside quantized operands: the real sum is rounded once, the bias not before it."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tests.frontend.quantized_onnx import Builder
from tvm_pulp.canonicalize.finer_bias import finer_bias
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget
from tvm_pulp.qnn.tensor_spec import RANGES

# Weights, the axis of their channels, the operand's shape, attributes.
KINDS: dict[str, tuple[str, tuple[int, ...], int, tuple[int, ...], dict[str, Any]]] = {
    "conv": ("Conv", (8, 3, 3, 3), 0, (1, 3, 9, 9), {"pads": [1] * 4}),
    "line": ("Conv", (8, 3, 3), 0, (1, 3, 30), {}),
    "depthwise": ("Conv", (8, 1, 3, 3), 0, (1, 8, 9, 9), {"group": 8}),
    "gemm": ("Gemm", (6, 8), 1, (20, 6), {}),
    "matmul": ("MatMul", (6, 8), 1, (2, 10, 6), {}),
    "transposed": ("ConvTranspose", (3, 8, 3, 3), 1, (1, 3, 5, 5), {"strides": [2, 2]}),
}


def _case(kind: str, dtype: str) -> tuple[Any, dict[str, np.ndarray], np.ndarray]:
    """A layer whose accumulator has units of about a tenth of a step, its operand, and the result of real numbers."""
    operator, shape, axis, operand, attributes = KINDS[kind]
    g = Builder(np.random.default_rng([6, *kind.encode(), *dtype.encode()]))
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    zero, target_zero = int(g.rng.integers(low // 4, high // 4)), int(g.rng.integers(low // 4 + 60, high // 2))
    scale, weight_scale = np.float32(0.037), g.rng.uniform(0.01, 0.03, 8).astype(np.float32)
    weight, step = g.rng.integers(-5, 6, shape).astype(np.int8), np.float32(0.0083)
    bias = g.rng.normal(size=8).astype(np.float32) * np.float32(0.2)
    x = np.clip(zero + g.rng.integers(-12, 13, operand), low, high).astype(dtype)
    g.inputs.append(onnx.helper.make_tensor_value_info("x", onnx.helper.np_dtype_to_tensor_dtype(x.dtype), operand))
    real = g.node("DequantizeLinear", ["x", g.constant(scale), g.constant(np.array(zero, dtype))])
    held = g.node("DequantizeLinear", [g.constant(weight), g.constant(weight_scale)], axis=axis)
    if operator == "MatMul":
        made = g.node("Add", [g.node("MatMul", [real, held]), g.constant(bias)])
    else:
        made = g.node(operator, [real, held, g.constant(bias)], **attributes)
    result = g.node("QuantizeLinear", [made, g.constant(step), g.constant(np.array(target_zero, dtype))])
    model = g.typed_model([result])
    model.opset_import[0].version, model.ir_version = 21, 10
    # The same in double precision.
    spread = weight_scale.astype(np.float64).reshape([8 if a == axis else 1 for a in range(weight.ndim)])
    xs, ws = (x.astype(np.float64) - zero) * float(scale), weight * spread
    if operator in ("Gemm", "MatMul"):
        sums = xs @ ws + bias
    else:
        node = onnx.helper.make_node(operator, ["x", "w"], ["y"], **attributes)
        (sums,) = ReferenceEvaluator(node, opsets={"": 21}).run(None, {"x": xs, "w": ws})
        sums = sums + bias.astype(np.float64).reshape([8 if a == 1 else 1 for a in range(sums.ndim)])
    return model, {"x": x}, np.clip(np.rint(sums / float(step)) + target_zero, low, high).astype(dtype)


TARGETS = {"host": {}, "siracusa": {"target": "c", "soc": "siracusa"}, "neureka": {"target": "uma-neureka"}}
CASES = [*((kind, "int8", "host") for kind in KINDS), ("conv", "uint8", "host"), ("depthwise", "int8", "siracusa")]
CASES += [("conv", "uint8", "siracusa"), ("conv", "int8", "neureka"), ("gemm", "int8", "neureka")]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("kind", "dtype", "target"), CASES)
def test_results_are_those_of_real_numbers(tmp_path: Path, kind: str, dtype: str, target: str) -> None:
    model, feeds, wanted = _case(kind, dtype)
    onnx.save(model, tmp_path / "model.onnx")
    (found,) = tvm_pulp.compile(tmp_path / "model.onnx", **TARGETS[target]).run(feeds).outputs.values()
    assert len(np.unique(wanted)) > 30
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("reach", [200, 40_000])
def test_rounding_of_every_sum(reach: int) -> None:
    """Few sums get numbers whose products stay inside 32 bits; many get 31 bits of their ratio."""
    rng = np.random.default_rng(reach)
    ratio, offset = rng.uniform(0.02, 0.3, 60), rng.normal(size=60) * 9
    target = IntegerTarget(1.0, -7, "int8", *RANGES["int8"])
    rule, constants, (whole,) = finer_bias(ratio, offset, target, reach)
    assert rule.wide == (reach > 1000)
    sums = np.arange(-reach, reach + 1)[:, None]
    wanted = np.clip(np.rint(sums * ratio + offset) - 7, -128, 127)
    np.testing.assert_array_equal(rule.apply(sums + whole, constants), wanted)


def test_integers_that_are_as_good_stay() -> None:
    target = IntegerTarget(1.0, 0, "int8", *RANGES["int8"])
    assert finer_bias(np.full(3, 0.25), np.array([1.5, -2.25, 0.0]), target, 1000) is None
    assert finer_bias(np.full(3, 1e-3), np.array([1.2345, -2.2, 0.1]), target, 1000) is None
