"""Activations behind a ReLU become unsigned where a padded convolution reads them; values at the ends stay."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build
from tvm_pulp import qnn
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.operator import PREFIX
from uma_backends.conv_array.passes.unsigned_activations import UnsignedActivations

RELU = qnn.Requant("tflite", 0, -128, -128, 127)
LINEAR = qnn.Requant("tflite", 0, 7, -128, 127)


def convolution(
    emit: Any, x: Any, rule: qnn.Requant, *, zero_point: int = -128, kernel: int = 3, pad: int = 1, seed: int = 0
) -> Any:
    """Four channels to four."""
    source = np.random.default_rng(seed)
    weights = source.integers(-127, 128, (4, kernel, kernel, 4)).astype(np.int8)
    bias = source.integers(-3000, 3000, (4,)).astype(np.int32)
    mul, exponent = np.full(4, 1518500250, np.int32), np.full(4, -8 if kernel == 3 else -6, np.int32)
    attributes = {
        "strides": [1, 1], "dilation": [1, 1], "pads": [pad] * 4, "groups": 1, "layout": "NHWC", "has_bias": 1,
        "zero_point": zero_point, **rule.attributes(),
    }  # fmt: skip
    return emit("conv2d", [x, weights, bias, mul, exponent], attributes)


def add(emit: Any, a: Any, b: Any) -> Any:
    attributes = {
        "form": "tflite", "subtract": 0, "zero_point_a": -128, "zero_point_b": 7, "multipliers": [1623821475, 1 << 30],
        "exponents": [-2, 0], "requant_a": "none", "requant_b": "none", **RELU.attributes(),
    }  # fmt: skip
    return emit("add", [a, b, np.array([1431655765], np.int32), np.array([-18], np.int32)], attributes)


def max_pool(emit: Any, x: Any) -> Any:
    attributes = {"kernel": [2, 2], "strides": [1, 1], "dilation": [1, 1], "pads": [0, 0, 1, 1], "layout": "NHWC"}
    return emit("max_pool", [x], attributes)


def residual(emit: Any, x: Any) -> list[Any]:
    first = convolution(emit, x, RELU, zero_point=3, seed=1)
    second = convolution(emit, first, LINEAR, seed=2)
    total = add(emit, first, second)
    return [convolution(emit, total, LINEAR, seed=3)]


def pooled(emit: Any, x: Any) -> list[Any]:
    return [convolution(emit, max_pool(emit, convolution(emit, x, RELU, zero_point=3, seed=1)), LINEAR, seed=2)]


def delivered(emit: Any, x: Any) -> list[Any]:
    first = convolution(emit, x, RELU, zero_point=3, seed=1)
    return [first, convolution(emit, first, LINEAR, seed=2)]


def averaged(emit: Any, x: Any) -> list[Any]:
    """An average rounds away from zero, so that it must see signed values."""
    first = convolution(emit, x, RELU, zero_point=3, seed=1)
    window = {"kernel": [2, 2], "strides": [2, 2], "dilation": [1, 1], "pads": [0] * 4, "layout": "NHWC"}
    average = emit("avg_pool", [first], {**window, "low": -128, "high": 127})
    return [convolution(emit, first, LINEAR, seed=2), average]


def unpadded(emit: Any, x: Any) -> list[Any]:
    first = convolution(emit, x, RELU, zero_point=3, seed=1)
    return [convolution(emit, first, LINEAR, kernel=1, pad=0, seed=2)]


def unsigned(module: Any) -> list[str]:
    """Operators with an unsigned result, in order."""
    bindings = [b for block in module["main"].body.blocks for b in block.bindings if qnn.is_qnn(b.value)]
    return [b.value.op.name.removeprefix(PREFIX) for b in bindings if str(b.var.ty.dtype) == "uint8"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (residual, ["conv2d", "add"]),
        (pooled, ["conv2d", "max_pool"]),
        (delivered, []),
        (averaged, []),
        (unpadded, []),
    ],
)
def test_values_move_together_and_results_stay(body: Any, expected: list[str]) -> None:
    module = build({"x": ((1, 6, 5, 4), "int8")}, body)
    done = UnsignedActivations().run(module)
    assert unsigned(done) == expected
    x = np.random.default_rng(9).integers(-128, 128, (1, 6, 5, 4)).astype(np.int8)
    for before, after in zip(interpret(module, [x]), interpret(done, [x]), strict=True):
        np.testing.assert_array_equal(after, before)
        assert np.unique(before).size > 20
