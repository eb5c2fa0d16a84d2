"""Means of bytes: 32-bit products where they round all sums alike, and where ties go both ways."""

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


def pool(kind: str, ratio: float, *, by_count: bool, channels: int = 8) -> MeanPoolKernel:
    """Windows of 3x3 with padding that does not count; `by_count`: a multiplier for every number of values."""
    counts = np.maximum(np.arange(10), 1) if by_count else np.array([9])
    constants = single_rounding_multipliers(ratio / counts)
    attributes = {
        "layout": "NHWC", "kernel": [3, 3], "strides": [1, 1], "dilation": [1, 1], "pads": [1, 1, 1, 1],
        "zero_point": -7, **Requant(kind, 0, 5, -128, 127).attributes(),
    }  # fmt: skip
    layer = RandomLayer("avg_pool", attributes, TensorSpec((1, 6, 6, channels), "int8"), constants)
    (found,) = layer_network([layer]).layers
    assert applies_mean_pool(found)
    return MeanPoolKernel(found, CostModel(socs.load("siracusa")))


@pytest.mark.parametrize(
    ("kind", "ratio", "by_count", "made"),
    [("half_up", 0.7913, False, "pulp"), ("half_even", 0.7913, True, "pulp"), ("half_even", 1.0, True, "shift_even")],
)
def test_rounding_by_shifts(kind: str, ratio: float, by_count: bool, made: str) -> None:
    """Halves, as of four values at the scale they have, go to the even result."""
    form = pool(kind, ratio, by_count=by_count)
    assert form.shifted is not None
    rule, constants = form.shifted
    assert rule.kind == made and not rule.wide
    assert [t.spec.elements for t in constants] == [10 if by_count else 1] * 2
    assert form.recipe(Box.whole((1, 6, 6, 8))).cycles > 0


def test_few_channels_keep_the_frameworks_rule() -> None:
    """The kernel sums fewer than four channels one by one."""
    assert pool("half_even", 1.0, by_count=True, channels=3).shifted is None
