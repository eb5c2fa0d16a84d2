"""Channels that are no multiple of four: NEUREKA multiplies, the cores add and shift four of them and the rest."""

import numpy as np
import pytest

from tests.uma_backends.neureka.test_bounded_form import SIRACUSA, convolution
from tvm_pulp.entry_point import plan_for
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, simulate, target_for
from tvm_pulp.uma.conformance.random_layer import random_input
from uma_backends.conv_array.forms.strategy import conv2d_forms
from uma_backends.neureka import NeurekaBackend

# Size, channels in and out, groups, kernel, stride, pads, zero point, type, rule.
LAYERS = [
    (9, 18, 18, 1, 1, 1, 0, -3, "int8", "half_even"),
    (6, 15, 71, 1, 3, 1, 1, 0, "uint8", "half_even"),
    (11, 23, 23, 23, 3, 1, 1, 4, "int8", "half_even"),
    (13, 37, 37, 37, 3, 2, 1, 0, "int8", "half_up"),
    (7, 20, 3, 1, 1, 1, 0, 2, "int8", "half_even"),
    (12, 30, 54, 1, 1, 2, 0, 0, "uint8", "half_up"),
]


@pytest.mark.parametrize("weight_memory", ["sram", pytest.param("none", marks=pytest.mark.slow)])
def test_results_equal_the_reference(weight_memory: str) -> None:
    source = np.random.default_rng(11)
    layers = [convolution(source, case) for case in LAYERS]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(SIRACUSA, NeurekaBackend(), {"weight_memory": weight_memory})
    run = simulate(target, plan_for(pinned(target, network), network), inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))


@pytest.mark.parametrize(
    ("size", "channels", "is_split"),
    [(6, 18, True), (5, 18, False), (5, 20, True), (1, 10, False), (30, 3, True), (30, 1, False)],
)
def test_the_cores_shift_where_there_are_many_of_each_channel(size: int, channels: int, is_split: bool) -> None:
    """Of few pixels the cores would share nothing but whole channels."""
    case = (size, 16, channels, 1, 1, 1, 0, 0, "int8", "half_even")
    layer = layer_network([convolution(np.random.default_rng(1), case)]).layers[0]
    backend = NeurekaBackend()
    context = backend.context(backend.options({}), SIRACUSA, 8)
    arithmetic = conv2d_forms(layer, context)[0].arithmetic
    assert (arithmetic.rest is not None or arithmetic.rest_of_halves is not None) == is_split
