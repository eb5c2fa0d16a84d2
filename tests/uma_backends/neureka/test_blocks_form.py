"""Depthwise convolutions over blocks of pixels: right numbers for any kernel, stride and gap."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.uma_backends.neureka.test_groups_and_gaps import SIRACUSA
from tvm_pulp.entry_point import plan_for
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import RandomLayer, random_input
from uma_backends.neureka import NeurekaBackend

# Height, width, channels in and out, kernel, strides, dilation, pads, type.
LAYERS = (
    (16, 16, 12, 12, (7, 7), (1, 1), (1, 1), (3, 3, 3, 3), "int8"),
    (9, 11, 10, 10, (5, 5), (1, 1), (1, 1), (2, 2, 2, 2), "uint8"),
    (15, 13, 8, 8, (5, 5), (2, 2), (1, 1), (1, 2, 2, 2), "int8"),
    (1, 39, 8, 8, (1, 5), (1, 1), (1, 1), (0, 4, 0, 0), "int8"),
    (20, 6, 8, 8, (9, 1), (1, 1), (1, 1), (4, 0, 4, 0), "uint8"),
    (14, 13, 8, 8, (5, 3), (1, 1), (1, 3), (2, 3, 2, 3), "int8"),
    (10, 13, 16, 32, (5, 5), (1, 1), (1, 1), (2, 2, 2, 2), "int8"),
    (7, 6, 7, 7, (9, 9), (1, 1), (1, 1), (4, 4, 4, 4), "uint8"),
)


def convolution(source: np.random.Generator, kind: str, *case: Any) -> RandomLayer:
    height, width, channels, outputs, kernel, strides, dilation, pads, dtype = case
    weight = source.integers(-128, 128, (outputs, *kernel, 1)).astype(np.int8)
    bias = source.integers(-3000, 3000, outputs).astype(np.int32)
    rule = Requant("pulp", 16, 0, -128, 127) if kind == "pulp" else Requant("half_even", 0, 3, -128, 127)
    if kind == "pulp":
        scale, add = (source.integers(1, 200, outputs).astype(np.int32) for _ in range(2))
    else:
        scale, add = source.integers(1 << 30, (1 << 31) - 1, outputs).astype(np.int32), np.full(outputs, 40, np.int32)
    attributes: dict[str, Any] = {
        "layout": "NHWC", "strides": list(strides), "dilation": list(dilation), "pads": list(pads), "groups": channels,
        "zero_point": -5 if dtype == "int8" else 7, "has_bias": 1, **rule.attributes(),
    }  # fmt: skip
    x = TensorSpec((1, height, width, channels), dtype)
    return RandomLayer("conv2d", attributes, x, (weight, bias, scale, add))


def check(cases: Sequence[Any], kind: str, weight_memory: str, tight: bool) -> list[str]:
    """Results of the layers equal the reference; the forms that they took."""
    source = np.random.default_rng(7)
    layers = [convolution(source, kind, *case) for case in cases]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(SIRACUSA, NeurekaBackend(), {"weight_memory": weight_memory})
    target, lowered = tight_plan(target, network) if tight else (target, plan_for(pinned(target, network), network))
    run = simulate(target, lowered, inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))
    return [layer["form"] for layer in run.report["layers"]]


def test_a_wide_kernel_runs_on_the_array() -> None:
    assert check(LAYERS[1:2], "half_even", "sram", tight=False) == ["3x3 over blocks of 2x4 pixels"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["half_even", "pulp"])
@pytest.mark.parametrize("weight_memory", ["sram", "none"])
@pytest.mark.parametrize("tight", [False, True])
def test_results_equal_the_reference(tight: bool, weight_memory: str, kind: str) -> None:
    forms = check(LAYERS, kind, weight_memory, tight)
    if not tight and weight_memory == "sram":
        assert all(form.startswith("3x3 over blocks of") for form in forms), forms
