"""Layers whose requantization has a shorter code; and scratch areas are as large as kernels.h asks."""

from dataclasses import replace

import numpy as np
import pytest

from schedules.cluster.arithmetic import can_round_short
from schedules.cluster.conv2d import Conv2dKernel
from schedules.cluster.dense import DenseKernel
from schedules.cluster.matmul import MatmulKernel
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc import CostModel, load
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Recipe

COSTS = CostModel(load("siracusa"))

TFLITE = Requant("tflite", 0, -128, -128, 127)
HALF_UP = Requant("half_up", 0, 3, 0, 255)
MUL = np.array([1 << 30, (1 << 31) - 1], np.int32)


@pytest.mark.parametrize(
    ("rule", "second", "reach", "kept"),
    [
        (TFLITE, [-20, -1], 1 << 29, True),
        (TFLITE, [-21, -1], 1 << 20, False),
        (TFLITE, [-5, 0], 1 << 20, False),
        (TFLITE, [-5, -6], (1 << 29) + 1, False),
        (replace(TFLITE, low=-100, high=50), [-5, -6], 1 << 20, False),
        (replace(TFLITE, low=-100, high=51), [-5, -6], 1 << 20, True),
        (replace(TFLITE, zero_point=-129), [-5, -6], 1 << 20, False),
        (replace(TFLITE, low=-1000, high=3001), [-5, -6], 1 << 20, False),
        (HALF_UP, [32, 51], 1 << 20, True),
        (HALF_UP, [31, 40], 1 << 20, False),
        (replace(HALF_UP, kind="half_even"), [35, 40], 1 << 20, False),
        (Requant("pulp", 8, 0, -128, 127), [0, 0], 1 << 20, False),
    ],
)
def test_short_rounding(rule: Requant, second: list[int], reach: int, kept: bool) -> None:
    assert can_round_short(rule, [MUL, np.array(second, np.int32)], reach) == kept


def test_negative_multipliers_have_no_short_code() -> None:
    assert not can_round_short(TFLITE, [-MUL, np.array([-5, -6], np.int32)], 1 << 20)


def constant(name: str, data: np.ndarray) -> Tensor:
    return Tensor(name, TensorSpec(tuple(data.shape), str(data.dtype)), "constant", data=data)


def conv2d(bias: int, size: int = 32, channels: int = 3) -> Layer:
    """3x3 to eight channels, stride 1."""
    weights = np.ones((8, 3, 3, channels), np.int8)
    x, y = (Tensor(n, TensorSpec((1, size, size, c), "int8"), "activation") for n, c in (("x", channels), ("y", 8)))
    constants = [np.full(8, bias, np.int32), np.full(8, 1 << 30, np.int32), np.full(8, -5, np.int32)]
    attributes = {
        "layout": "NHWC", "groups": 1, "zero_point": 0, "has_bias": 1, "strides": (1, 1), "dilation": (1, 1),
        "pads": (1, 1, 1, 1), **TFLITE.attributes(),
    }  # fmt: skip
    inputs = [x, constant("w", weights), *(constant(f"c{i}", c) for i, c in enumerate(constants))]
    return Layer("layer", "conv2d", attributes, inputs, [y], None)


@pytest.mark.parametrize(("bias", "short"), [(1000, True), (1 << 29, False)])
@pytest.mark.parametrize("form", [Conv2dKernel, DenseKernel])
def test_accumulators_that_are_too_large_have_no_short_code(form: type, bias: int, short: bool) -> None:
    assert form(conv2d(bias), COSTS).rounds_short == short


@pytest.mark.parametrize(("rows", "windows"), [(32, 16), (12, 8), (1, 4)])
def test_windows_in_the_scratch_area(rows: int, windows: int) -> None:
    """As many as the core has pixels, sixteen at most, as long as scratch areas are small beside the tile."""
    form = Conv2dKernel(conv2d(0), COSTS)
    recipe = form.recipe(Box((0, 0, 0, 0), (1, rows, 32, 8)))
    assert (stride_of(recipe) - 4) // 28 == windows


def stride_of(recipe: Recipe) -> int:
    """Bytes of the scratch area that each core has."""
    (stride,) = (
        argument
        for step in recipe.steps
        if isinstance(step, Call)
        for name, argument in zip(step.fields, step.arguments, strict=True)
        if name == "scratch_stride"
    )
    assert isinstance(stride, int)
    return stride


@pytest.mark.parametrize(("depth", "bytes_needed"), [(64, 4 * 64 + 4), (62, 8 * 64 + 4)])
def test_scratch_area_of_matmul(depth: int, bytes_needed: int) -> None:
    """Four packed columns, and four rows where they have to be moved to whole words."""
    a, b = (Tensor(n, TensorSpec((1, 8, depth), "int8"), "activation") for n in "ab")
    y = Tensor("y", TensorSpec((1, 8, 8), "int32"), "activation")
    attributes = {"transpose_b": 1, "zero_point_a": 0, "zero_point_b": 0, **Requant().attributes()}
    form = MatmulKernel(Layer("layer", "matmul", attributes, [a, b], [y], None), COSTS)
    assert bytes_needed <= stride_of(form.recipe(Box((0, 0, 0), (1, 8, 8)))) <= bytes_needed + 4
