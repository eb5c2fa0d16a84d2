"""Means over axes: as a product, a sum and a shift for every sum, and on the simulated cores in whole and in tiles."""

import numpy as np
import pytest

from schedules.cluster.reduce import as_shift
from tvm_pulp import soc
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.conformance.checks import compare
from tvm_pulp.uma.conformance.layer_network import layer_network, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import RandomLayer, random_input


@pytest.mark.parametrize("low", [-128, 0])
@pytest.mark.parametrize("count", [1, 3, 49, 64, 100])
def test_every_mean_is_rounded_half_up(count: int, low: int) -> None:
    found = as_shift(count, low, low + 255)
    assert found is not None
    multiplier, summand, shift = found
    sums = np.arange(count * low, count * (low + 255) + 1)
    assert np.abs(sums * multiplier).max() < 1 << 31 and np.abs(sums * multiplier + summand).max() < 1 << 31
    np.testing.assert_array_equal((sums * multiplier + summand) >> shift, np.floor(sums / count + 0.5).astype(int))


def test_no_product_of_32_bits_holds_means_of_many_values() -> None:
    assert as_shift(1000, -128, 127) is None and as_shift(1024, -128, 127) is not None


def test_means_on_the_cores() -> None:
    cases = [((1, 64, 72), [1], 0, "int8"), ((1, 7, 7, 68), [1, 2], 1, "uint8"), ((3, 40, 66), [1], 1, "int8")]
    layers = [
        RandomLayer("reduce", {"kind": "mean", "axes": axes, "keepdims": keep}, TensorSpec(shape, dtype), ())
        for shape, axes, keep, dtype in cases
    ]
    source = np.random.default_rng(1)
    inputs = [random_input(source, layer.x) for layer in layers]
    network = layer_network(layers)
    target, plan = tight_plan(target_for(soc.load("siracusa")), network)
    run = simulate(target, plan, inputs)
    assert {entry["form"] for entry in run.report["layers"]} == {"mean_pool kernel"}
    expected = [layer.reference(x) for layer, x in zip(layers, inputs, strict=True)]
    compare(layers, network, run.outputs, expected, run.report)
