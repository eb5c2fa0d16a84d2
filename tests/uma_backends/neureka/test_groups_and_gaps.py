"""Convolutions in groups, some of them in one job, and with gaps between taps, a job for every phase: right numbers."""

from typing import Any

import numpy as np
import pytest

from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import RandomLayer, random_input
from uma_backends.neureka import NeurekaBackend

SIRACUSA = socs.load("siracusa")
# Height, width, channels in and out, groups, kernel, stride, dilation, pads, type, form.
LAYERS = (
    (13, 15, 32, 32, 8, (3, 3), 1, (1, 1), (1, 1, 1, 1), "int8", "3x3, 4 of 8 groups at a time"),
    (8, 8, 12, 24, 12, (3, 3), 1, (1, 1), (1, 1, 1, 1), "uint8", "3x3, 12 of 12 groups at a time"),
    (9, 8, 40, 20, 5, (1, 1), 2, (1, 1), (0, 0, 0, 0), "int8", "1x1, 5 of 5 groups at a time"),
    (6, 7, 48, 96, 2, (3, 3), 2, (1, 1), (1, 1, 1, 1), "int8", "3x3 at stride 1, discarding, 1 of 2 groups at a time"),
    (6, 9, 12, 9, 3, (5, 2), 1, (2, 2), (4, 1, 4, 0), "int8", "im2col + 1x1, 3 of 3 groups at a time"),
    (13, 11, 20, 24, 1, (3, 3), 1, (2, 3), (2, 3, 2, 3), "uint8", "3x3 by phases"),
    (9, 14, 30, 30, 30, (3, 3), 1, (2, 2), (2, 2, 2, 2), "int8", "3x3 depthwise by phases"),
    (12, 9, 16, 16, 16, (3, 3), 1, (1, 4), (0, 4, 1, 2), "uint8", "3x3 depthwise by phases"),
    (5, 5, 8, 8, 1, (3, 2), 1, (6, 6), (6, 3, 6, 3), "uint8", "im2col + 1x1"),
)


def convolution(source: np.random.Generator, *case: Any) -> RandomLayer:
    height, width, channels, outputs, groups, kernel, stride, dilation, pads, dtype = case
    # Weights of four bits that are never negative: zeros are no middle of their range.
    weight = source.integers(0, 16, (outputs, *kernel, channels // groups)).astype(np.int8)
    scale, add = (source.integers(1, 200, outputs).astype(np.int32) for _ in range(2))
    attributes: dict[str, Any] = {
        "layout": "NHWC", "strides": [stride] * 2, "dilation": list(dilation), "pads": list(pads), "groups": groups,
        "zero_point": -5 if dtype == "int8" else 0, "has_bias": 0, **Requant("pulp", 14, 0, -128, 127).attributes(),
    }  # fmt: skip
    return RandomLayer("conv2d", attributes, TensorSpec((1, height, width, channels), dtype), (weight, scale, add))


@pytest.mark.sample(1)
@pytest.mark.parametrize("tight", [False, True])
def test_results_equal_the_reference(tight: bool) -> None:
    source = np.random.default_rng(4)
    layers = [convolution(source, *case[:-1]) for case in LAYERS]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(SIRACUSA, NeurekaBackend(), {"weight_memory": "sram"})
    target, lowered = tight_plan(target, network) if tight else (target, plan_for(pinned(target, network), network))
    run = simulate(target, lowered, inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))
    if not tight:
        assert sorted(layer["form"] for layer in run.report["layers"]) == sorted(case[-1] for case in LAYERS)
