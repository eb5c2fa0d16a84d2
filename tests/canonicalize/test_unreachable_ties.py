"""Half to even becomes half up only where both give the same for every accumulator that can occur."""

from typing import Any

import numpy as np
import pytest

from tests.canonicalize.small_modules import build
from tvm_pulp import qnn
from tvm_pulp.canonicalize.unreachable_ties import UnreachableTies
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.requant import Requant

RULE = Requant("half_even", 0, 3, -128, 127)


def dense(weights: np.ndarray, mul: list[int], shift: list[int], bias: list[int], zero_point: int = 0) -> Any:
    constants = [weights, *(np.array(v, np.int32) for v in (bias, mul, shift))]
    attributes = {**RULE.attributes(), "zero_point": zero_point, "has_bias": 1}
    return build({"x": ((256, weights.shape[1]), "int8")}, lambda emit, x: [emit("dense", [x, *constants], attributes)])


def kind(module: Any) -> str:
    values = (b.value for block in module["main"].body.blocks for b in block.bindings)
    return str(next(qnn.attributes(v)["requant"] for v in values if qnn.is_qnn(v)))


def test_long_multipliers_have_no_ties() -> None:
    """An odd multiplier with a shift of 40 has its first tie at an accumulator of 2^39."""
    module = dense(np.full((2, 3), 127, np.int8), [(1 << 30) + 1, 0x5A5A5A5B], [40, 41], [0, 9])
    assert kind(UnreachableTies().run(module)) == "half_up"


def test_one_channel_with_ties_keeps_the_rule() -> None:
    """2^30 / 2^34 is a sixteenth: every accumulator 16 k + 8 is a tie."""
    module = dense(np.full((2, 1), 1, np.int8), [(1 << 30) + 1, 1 << 30], [40, 34], [0, 0])
    assert kind(UnreachableTies().run(module)) == "half_even"


@pytest.mark.parametrize(
    ("bias", "expected"), [(0, "half_even"), (7 * 16 * 128, "half_up"), (-7 * 16 * 128, "half_up")]
)
def test_ties_that_are_clipped_do_not_count(bias: int, expected: str) -> None:
    module = dense(np.full((1, 1), 1, np.int8), [1 << 30], [34], [bias])
    assert kind(UnreachableTies().run(module)) == expected


@pytest.mark.parametrize("seed", range(40))
def test_every_accumulator_keeps_its_result(seed: int) -> None:
    """One weight of one: the 256 inputs are all accumulators; multipliers with many trailing zeros have ties."""
    rng = np.random.default_rng(seed)
    shift = int(rng.integers(31, 40))
    zeros = int(rng.integers(0, 31))
    mul = max(1, int(rng.integers(1 << 30, 1 << 31)) >> zeros << zeros)
    bias, zero_point = int(rng.integers(-2000, 2000)), int(rng.integers(-128, 128))
    module = dense(np.array([[1]], np.int8), [mul], [shift], [bias], zero_point)
    done = UnreachableTies().run(module)
    x = np.arange(-128, 128).astype(np.int8).reshape(256, 1)
    np.testing.assert_array_equal(interpret(module, [x])[0], interpret(done, [x])[0])
