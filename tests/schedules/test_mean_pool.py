"""Means of bytes: 32-bit products where they round all sums alike, the frameworks' rounding where ties go both ways."""

import numpy as np
import pytest

from schedules.cluster.pool import MeanPoolKernel, applies_mean_pool
from tvm_pulp import soc as socs
from tvm_pulp.qnn.fixed_point import single_rounding_multipliers
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc import CostModel
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.conformance.layer_network import layer_network
from tvm_pulp.uma.conformance.random_layer import RandomLayer


def pool(kind: str, ratio: float, *, by_count: bool) -> MeanPoolKernel:
    """Windows of 3x3 with padding that does not count; `by_count`: a multiplier for every number of values."""
    counts = np.maximum(np.arange(10), 1) if by_count else np.array([9])
    constants = single_rounding_multipliers(ratio / counts)
    attributes = {
        "layout": "NHWC", "kernel": [3, 3], "strides": [1, 1], "dilation": [1, 1], "pads": [1, 1, 1, 1],
        "zero_point": -7, **Requant(kind, 0, 5, -128, 127).attributes(),
    }  # fmt: skip
    layer = RandomLayer("avg_pool", attributes, TensorSpec((1, 6, 6, 8), "int8"), constants)
    (found,) = layer_network([layer]).layers
    assert applies_mean_pool(found)
    return MeanPoolKernel(found, CostModel(socs.load("siracusa")))


@pytest.mark.parametrize(
    ("kind", "ratio", "by_count", "shifts"),
    [("half_up", 0.7913, False, True), ("half_even", 0.7913, True, True), ("half_even", 1.0, True, False)],
)
def test_rounding_by_shifts(kind: str, ratio: float, by_count: bool, shifts: bool) -> None:
    form = pool(kind, ratio, by_count=by_count)
    assert (form.shifted is not None) == shifts
    if form.shifted is not None:
        rule, constants = form.shifted
        assert rule.kind == "pulp" and not rule.wide
        assert [t.spec.elements for t in constants] == [10 if by_count else 1] * 2
    assert form.recipe(Box.whole((1, 6, 6, 8))).cycles > 0
