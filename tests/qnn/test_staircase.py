"""Staircases of rules, and lines that step where they do, beside a search through every sum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvm_pulp.qnn.real_rounding import RealRounding
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.staircase import (
    LineTarget,
    Staircase,
    factors_of,
    find_steps,
    fit,
    middle,
    nearest_zero,
    staircase_of,
)

CHANNELS = 3
KINDS = ("pulp", "tflite", "half_up", "half_even")


@st.composite
def rules(draw: st.DrawFn, kind: str) -> tuple[Requant, tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """A rule, its operands, a bias, and the least and largest sums: with ties, one-sided, of few sums."""
    source = np.random.default_rng(draw(st.integers(0, 10_000)))
    low, high = draw(st.sampled_from([(-128, 127), (0, 255), (-7, 8), (3, 3)]))
    bits = draw(st.sampled_from([1, 3, 8, 31]))
    exponents = source.integers(0, 12, CHANNELS)
    first = source.integers(1 << (bits - 1), (1 << bits) - 1, CHANNELS, endpoint=True)
    rule = Requant(kind, 0, int(source.integers(low, high + 1)), low, high)
    if kind == "tflite":
        first, second = first << (31 - bits), -exponents
    elif kind == "pulp":
        rule = Requant(kind, bits + int(exponents[0]), 0, low, high)
        second = source.integers(-(1 << bits + 7), 1 << bits + 7, CHANNELS)
    else:
        second = bits + exponents
    ends = np.sort(source.integers(-3000, 3000, (2, CHANNELS)), axis=0)
    return rule, (first, second), source.integers(-500, 500, CHANNELS), ends


def brute_steps(values: np.ndarray, sums: np.ndarray, results: np.ndarray) -> list[int]:
    """The first sum of each result, or the one behind all of them; results do not fall."""
    assert (np.diff(values.astype(np.int64)) >= 0).all()
    return [int(s) for s in sums[0] + (values[:, None] < results).sum(axis=0)]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(data=st.data())
def test_steps_are_those_of_every_sum(kind: str, data: st.DataObject) -> None:
    rule, operands, bias, (low, high) = data.draw(rules(kind))
    stairs = staircase_of(rule, operands, bias, low, high)
    for channel in range(CHANNELS):
        one = slice(channel, channel + 1)
        sums = np.arange(low[channel], high[channel] + 1)
        values = rule.apply(sums[:, None] + bias[one], [o[one] for o in operands])[:, 0]
        steps = brute_steps(values, sums, stairs.results)
        assert stairs.at[channel].tolist() == steps and stairs.before[channel].tolist() == [s - 1 for s in steps]
        assert stairs.reached[channel].tolist() == [s <= high[channel] for s in steps]
        assert stairs.passed[channel].tolist() == [s > low[channel] for s in steps]
        given_sums = Staircase.of_values(stairs.results, [sums], [values.astype(np.int64)])
        assert given_sums is not None
        for name in ("reached", "passed"):
            np.testing.assert_array_equal(getattr(given_sums, name)[0], getattr(stairs, name)[channel])
        np.testing.assert_array_equal(given_sums.at[given_sums.reached], stairs.at[channel][stairs.reached[channel]])
        np.testing.assert_array_equal(
            given_sums.before[given_sums.passed], stairs.before[channel][stairs.passed[channel]]
        )


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), wrong=st.integers(-5000, 5000))
def test_a_wrong_guess_is_put_right(seed: int, wrong: int) -> None:
    steps = np.sort(np.random.default_rng(seed).integers(-1100, 1100, (2, 9)))
    low, high = np.array([-1000, -20]), np.array([900, 30])
    found = find_steps(lambda sums: sums >= steps, steps + float(wrong), low, high)
    np.testing.assert_array_equal(found, np.clip(steps, low[:, None], high[:, None] + 1))


def shifted(sums: np.ndarray, multiplier: int, summand: int, dropped: int, shift: int) -> np.ndarray:
    return np.asarray((sums * multiplier >> dropped) + summand >> shift)


@pytest.mark.parametrize("choose", [middle, nearest_zero])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(data=st.data(), dropped=st.sampled_from([0, 4, 9]), shift=st.integers(1, 12))
def test_lines_are_found_where_one_of_all_fits(
    kind: str, choose: object, data: st.DataObject, dropped: int, shift: int
) -> None:
    """What is found gives the rule's result for every sum; where nothing is, no multiplier has any summand."""
    rule, operands, bias, (low, high) = data.draw(rules(kind))
    stairs, tried = staircase_of(rule, operands, bias, low, high), 3
    nearest = np.rint(factors_of(rule, operands) * 2.0 ** (shift + dropped)).astype(np.int64)
    target = LineTarget(lambda channels, m, a: m >= 0, tried, dropped, choose=choose)  # type: ignore[arg-type]
    lines = fit([stairs.reaching(stairs.results << shift)], nearest, target)
    for channel in range(CHANNELS):
        one = slice(channel, channel + 1)
        sums = np.arange(low[channel], high[channel] + 1)
        wanted = rule.apply(sums[:, None] + bias[one], [o[one] for o in operands])[:, 0]
        if channel not in lines.missing:
            made = shifted(sums, int(lines.multipliers[channel]), int(lines.summands[0, channel]), dropped, shift)
            np.testing.assert_array_equal(np.clip(made, rule.low, rule.high), wanted)
            continue
        for multiplier in range(max(0, int(nearest[channel]) - tried), int(nearest[channel]) + tried + 1):
            products = sums * multiplier >> dropped
            least = ((wanted.astype(np.int64) << shift) - products)[wanted > rule.low]
            most = ((wanted.astype(np.int64) + 1 << shift) - 1 - products)[wanted < rule.high]
            assert len(least) and len(most) and least.max() > most.min()


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_parts_of_sums(seed: int) -> None:
    """Both sides of zero, of all sums and of some, as if each were all there is."""
    source = np.random.default_rng(seed)
    results, values = np.arange(-4, 6), np.sort(source.integers(-6, 8, 60))
    sums = np.sort(source.choice(np.arange(-80, 80), 60, replace=False))
    stairs = Staircase.of_values(results, [sums], [values])
    assert stairs is not None
    for is_part in (sums >= 0, sums < 0):
        own = Staircase.of_values(results, [sums[is_part]], [values[is_part]])
        part = stairs.within(sums[is_part][:1], sums[is_part][-1:])
        assert own is not None
        np.testing.assert_array_equal(part.reached, own.reached)
        np.testing.assert_array_equal(part.passed, own.passed)
        np.testing.assert_array_equal(part.at[part.reached], own.at[own.reached])
        np.testing.assert_array_equal(part.before[part.passed], own.before[own.passed])
    nothing = stairs.within(np.array([1]), np.array([0]))
    assert not nothing.reached.any() and not nothing.passed.any()


def test_values_that_fall_are_no_staircase() -> None:
    assert Staircase.of_values(np.arange(3), [np.arange(3)], [np.array([0, 2, 1])]) is None


@settings(max_examples=15)
@given(scale=st.floats(1e-4, 0.9), zero_point=st.integers(-20, 20))
def test_steps_of_single_precision(scale: float, zero_point: int) -> None:
    low, high = np.array([-40_000]), np.array([30_000])
    rounding = RealRounding(scale, np.arange(-127, 128), zero_point)
    stairs, sums = rounding.staircase(low, high), np.arange(low[0], high[0] + 1)
    values = np.rint(sums.astype(np.float32) * np.float32(scale)).astype(np.int64) + zero_point
    own = Staircase.of_values(rounding.results, [sums], [values])
    assert own is not None and (own.reached == stairs.reached).all() and (own.passed == stairs.passed).all()
    np.testing.assert_array_equal(own.at[own.reached], stairs.at[stairs.reached])
    assert stairs.agrees(lambda s: np.rint(s.astype(np.float32) * np.float32(scale)) + zero_point).all()
    assert not stairs.agrees(lambda s: np.rint(s * scale) + zero_point + 1).all()
