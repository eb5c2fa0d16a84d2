"""One row times a matrix runs in linear mode: any depth, both signs, few bits, cut into slices of output channels."""

import numpy as np
import pytest

from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import RandomLayer, random_input
from uma_backends.ne16 import Ne16Backend

# Depth, outputs, type, bits of the weights.
PRODUCTS = (
    (256, 64, "uint8", 8),
    (304, 33, "int8", 8),
    (100, 48, "int8", 4),
    (7, 5, "uint8", 3),
    (513, 40, "uint8", 2),
)


def product(source: np.random.Generator, depth: int, outputs: int, dtype: str, bits: int) -> RandomLayer:
    weight = source.integers(-(1 << bits - 1), 1 << bits - 1, (outputs, depth)).astype(np.int8)
    bias, scale, add = (source.integers(0, 200, outputs).astype(np.int32) for _ in range(3))
    attributes = {
        "zero_point": -3 if dtype == "int8" else 0,
        "has_bias": 1,
        **Requant("pulp", 12, 0, -128, 127).attributes(),
    }
    return RandomLayer("dense", attributes, TensorSpec((1, depth), dtype), (weight, bias, scale, add))


@pytest.mark.parametrize("tight", [pytest.param(False, marks=pytest.mark.slow), True])
def test_results_equal_the_reference(tight: bool) -> None:
    source = np.random.default_rng(5)
    layers = [product(source, *case) for case in PRODUCTS]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(socs.load("pulp-open-ne16"), Ne16Backend())
    if tight:
        target, lowered = tight_plan(target, network)
    else:
        target = pinned(target, network)
        lowered = plan_for(target, network)
    run = simulate(target, lowered, inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))
    assert {layer["form"] for layer in run.report["layers"]} == {"one row in linear mode"}
