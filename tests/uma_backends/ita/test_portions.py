"""Long sums as several products: they add up, and each leaves the engine exactly."""

import numpy as np
import pytest

from tvm_pulp.qnn.fixed_point import tie_free_multipliers
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import Refused
from uma_backends.ita.geometry import BIAS_BITS, MOST_TILES, TILE, tiles
from uma_backends.ita.panels import panel_starts
from uma_backends.ita.portions import LinearPortion, linear_portions

RULE = Requant("half_even", 0, 0, -128, 127, dtype="int8")


def portions_of(
    depth: int, scale: float, largest: int = 127
) -> tuple[tuple[LinearPortion, ...], np.ndarray, np.ndarray]:
    random = np.random.default_rng(depth)
    weights = random.integers(-largest, largest + 1, (7, depth)).astype(np.int64)
    bias = random.integers(-3000, 3000, 7).astype(np.int64)
    return linear_portions(weights, bias, RULE, list(tie_free_multipliers(np.array([scale])))), weights, bias


@pytest.mark.parametrize(
    ("depth", "scale", "expected"),
    [
        (64, 1 / 700, 1),
        (108, 1 / 2500, 2),
        (288, 1 / 2500, 2),
        (576, 1 / 4000, 6),
        (600, 1 / 4000, 6),
        (1152, 1 / 700, 12),
    ],
)
def test_they_add_up(depth: int, scale: float, expected: int) -> None:
    found, weights, bias = portions_of(depth, scale)
    assert len(found) == expected
    random = np.random.default_rng(1)
    x = random.integers(-128, 128, (50, depth))
    x[0], x[1] = -128, 127
    x[2:9] = np.where(weights > 0, 127, -128)
    # The last panel overlaps the one before, where weights are zero.
    panels = [x] if depth < TILE else [x[:, start : start + TILE] for start in panel_starts(depth)]
    total = np.zeros((50, 7), np.int64)
    for p in found:
        inputs = np.concatenate(panels[p.panels], axis=1) if len(found) > 1 else x
        sums = inputs @ p.weights.astype(np.int64).T + p.bias
        digits = p.digits
        # A single product may saturate: its result has by then.
        assert len(found) == 1 or np.abs(sums).max() <= digits.reach
        assert tiles(p.weights.shape[1]) + digits.tiles <= MOST_TILES
        assert np.abs(p.bias).max() < 1 << (BIAS_BITS - 1)
        total += p.digits.factor * (sums - digits.offset)
    np.testing.assert_array_equal(total, x @ weights.T + bias)
    assert sum(p.depth for p in found) == depth


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(Refused, match="inner length"):
        portions_of(4000, 1 / 4000)
