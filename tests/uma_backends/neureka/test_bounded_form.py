"""Exact rounding between two results of the array: right numbers, where bounds are offered and where not."""

from typing import Any

import numpy as np
import pytest

from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, simulate, target_for
from tvm_pulp.uma.conformance.random_layer import RandomLayer, random_input
from uma_backends.conv_array.forms.strategy import conv2d_forms
from uma_backends.neureka import NeurekaBackend

SIRACUSA = socs.load("siracusa")
# Size, channels in and out, groups, kernel, stride, pads, zero point, type, rule, form.
LAYERS = (
    (18, 20, 96, 1, 1, 1, 0, -3, "int8", "half_even", "1x1, bounded"),
    (12, 168, 168, 168, 3, 1, 1, 0, "uint8", "half_even", "3x3 depthwise, bounded"),
)
MORE = (
    (19, 32, 100, 1, 1, 1, 0, 0, "uint8", "half_up", "1x1, bounded"),
    (18, 112, 112, 112, 3, 1, 1, 4, "int8", "half_even", "3x3 depthwise, bounded"),
    (44, 3, 64, 1, 3, 2, 1, 7, "uint8", "half_even", "im2col + 1x1, bounded"),
)


def convolution(source: np.random.Generator, case: tuple[Any, ...]) -> RandomLayer:
    size, channels, outputs, groups, kernel, stride, pad, zero_point, dtype, kind = case
    weight = source.integers(-127, 128, (outputs, kernel, kernel, channels // groups)).astype(np.int8)
    weight[0].flat[0] = -127
    bias = source.integers(-3000, 3000, outputs).astype(np.int32)
    # Results of about the range of a byte, some of them beyond it.
    spread = 75 * 75 * np.sqrt(weight[0].size)
    shift = np.full(outputs, 37, np.int32)
    scale = np.round(source.uniform(60, 160, outputs) / spread * 2.0**37).astype(np.int32)
    zero = -5 if dtype == "int8" else -128
    attributes: dict[str, Any] = {
        "layout": "NHWC", "strides": [stride] * 2, "dilation": [1, 1], "pads": [pad] * 4, "groups": groups,
        "zero_point": zero_point, "has_bias": 1, **Requant(kind, 0, zero, -128, 127).attributes(),
    }  # fmt: skip
    return RandomLayer("conv2d", attributes, TensorSpec((1, size, size, channels), dtype), (weight, bias, scale, shift))


@pytest.mark.parametrize("cases", [LAYERS, pytest.param(MORE, marks=pytest.mark.slow)])
def test_results_equal_the_reference(cases: tuple[tuple[Any, ...], ...]) -> None:
    source = np.random.default_rng(4)
    layers = [convolution(source, case[:-1]) for case in cases]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(SIRACUSA, NeurekaBackend(), {"weight_memory": "sram"})
    run = simulate(target, plan_for(pinned(target, network), network), inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))
    assert sorted(layer["form"] for layer in run.report["layers"]) == sorted(case[-1] for case in cases)


@pytest.mark.parametrize(
    "change",
    [
        {5: 2},  # a stride of which the array discards most
        {0: 3},  # too small to be worth it
        {1: 160},  # sums of an open element take the cores longer than its rounding
        {9: "pulp"},  # what the array does by itself
    ],
)
def test_where_they_do_not_pay_there_are_none(change: dict[int, Any]) -> None:
    case = list(LAYERS[1 if 5 in change else 0][:-1])
    for place, value in change.items():
        case[place] = value
    layer = layer_network([convolution(np.random.default_rng(1), tuple(case))]).layers[0]
    backend = NeurekaBackend()
    context = backend.context(backend.options({}), SIRACUSA, 8)
    assert not any("bounded" in form.name for form in conv2d_forms(layer, context))
