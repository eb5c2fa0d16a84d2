"""A product on the array, an addition and a shift on the cores: the framework's result for every accumulator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.fixed_point import OFFSET_UNIT, pack_offset, single_rounding_multipliers
from tvm_pulp.qnn.real_rounding import RealRounding
from tvm_pulp.qnn.requant import TO_EVEN, Requant
from uma_backends.conv_array.arithmetic.exact_rounding import (
    ARRAY_SHIFT,
    ExactFold,
    fold_away,
    fold_exactly,
    fold_real,
    fold_to_even,
)
from uma_backends.conv_array.arithmetic.folded_rounding import Reach

RANGES = [(-128, 127), (0, 255)]
CHANNELS = 6


def random_layer(kind: str, seed: int, relu: bool) -> tuple[Requant, np.ndarray, np.ndarray, Reach, np.ndarray]:
    """Rule, constants, accumulators' range and bias of a layer whose results cover the range of a byte."""
    source = np.random.default_rng(seed)
    low, high = RANGES[seed % 2]
    rule = Requant(kind, 0, low if relu else int(source.integers(low, high + 1)), low, high)
    first = source.integers(1 << 30, (1 << 31) - 1, CHANNELS)
    exponent = -source.integers(5, 11, CHANNELS)
    reach = source.integers(1 << 12, 1 << 18, (2, CHANNELS))
    bias = source.integers(-20000, 20000, CHANNELS)
    return rule, first, exponent if kind == "tflite" else 31 - exponent, Reach(-reach[0], reach[1]), bias


def finished(fold: ExactFold, acc: np.ndarray, rule: Requant) -> np.ndarray:
    """What array and cores make of accumulators without bias."""
    product = acc * fold.scale
    assert np.abs(product).max() < 1 << 47
    total = (product >> ARRAY_SHIFT) + fold.add
    assert max(np.abs(product >> ARRAY_SHIFT).max(), np.abs(total).max()) < 1 << 31
    return np.clip(total >> fold.shift, rule.low, rule.high)


@pytest.mark.parametrize(("kind", "relu"), [("tflite", True), ("half_up", False), ("half_even", False)])
@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_every_accumulator_gives_the_exact_result(kind: str, relu: bool, seed: int) -> None:
    rule, first, second, reach, bias = random_layer(kind, seed, relu)
    fold = fold_exactly(rule, first, second, reach, bias)
    assert fold is not None and fold.scale.min() >= 0 and fold.scale.max() < 1 << 32
    for channel in range(CHANNELS):
        acc = np.arange(reach.low[channel], reach.high[channel] + 1)[:, None]
        one = slice(channel, channel + 1)
        expected = rule.apply(acc + bias[channel], [first[one], second[one]])
        part = ExactFold(fold.scale[one], fold.add[one], fold.shift[one])
        np.testing.assert_array_equal(finished(part, acc, rule), expected)


def test_halves_away_from_zero_on_both_sides_are_refused() -> None:
    """TFLite rounds -0.5 down and 0.5 up: no single summand does both."""
    _, first, second, reach, bias = random_layer("tflite", 2, relu=True)
    around_zero = Requant("tflite", 0, 0, -128, 127)
    assert fold_exactly(around_zero, first, second, reach, bias) is None


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_halves_away_from_zero_by_one_more_step(seed: int) -> None:
    """Sums below zero lose a unit of TFLite's first rounding: every accumulator has its result."""
    rule, first, second, reach, bias = random_layer("tflite", seed, relu=False)
    fold = fold_away(rule, first, second, reach, bias)
    assert fold is not None and fold.away > 0 and fold.scale.max() < 1 << 32
    made = Requant("shift_away", fold.away, rule.zero_point, rule.low, rule.high, dtype=rule.dtype)
    for channel in range(CHANNELS):
        acc = np.arange(reach.low[channel], reach.high[channel] + 1)[:, None]
        one = slice(channel, channel + 1)
        product = acc * fold.scale[one]
        assert np.abs(product).max() < 1 << 47
        total = (product >> ARRAY_SHIFT) + fold.add[one]
        room = np.abs(total).max() + fold.away + ((2 * abs(rule.zero_point) + 1) << int(fold.shift[channel]) >> 1)
        assert room < 1 << 31
        found = made.apply(product >> ARRAY_SHIFT, [fold.shift[one], fold.add[one]])
        np.testing.assert_array_equal(found, rule.apply(acc + bias[channel], [first[one], second[one]]))


def test_what_has_no_second_rounding_is_refused() -> None:
    """Another rule, a shift to the left, part of a byte's range, accumulators too large for the product."""
    rule, first, second, reach, bias = random_layer("tflite", 2, relu=False)
    assert fold_away(rule, first, second, reach, bias) is not None
    assert fold_away(Requant("half_up", 0, 0, -128, 127), first, 31 - second, reach, bias) is None
    assert fold_away(rule, first, np.where(np.arange(CHANNELS) == 1, 0, second), reach, bias) is None
    assert fold_away(Requant("tflite", 0, 3, 3, 127), first, second, reach, bias) is None
    huge = np.full(CHANNELS, 1 << 30)
    assert fold_away(rule, first, second, Reach(-huge, huge), bias) is None


def test_accumulators_too_large_for_the_product_are_refused() -> None:
    rule, first, second, _, bias = random_layer("tflite", 2, relu=True)
    huge = np.full(CHANNELS, 1 << 30)
    assert fold_exactly(rule, first, second, Reach(-huge, huge), bias) is None


def test_a_channel_that_never_changes_has_a_summand() -> None:
    """No accumulator comes near a step: only one side confines the summand, which must not be half of nothing."""
    rule, multiplier, shift = Requant("half_up", 0, -128, -128, 127), np.array([1769675264]), np.array([38])
    reach, bias = Reach(np.array([-153510]), np.array([0])), np.array([-430])
    fold = fold_exactly(rule, multiplier, shift, reach, bias)
    assert fold is not None
    acc = np.arange(-153510, 1)[:, None]
    np.testing.assert_array_equal(finished(fold, acc, rule), np.full_like(acc, -128))


@pytest.mark.parametrize("scale", [0.0074001737, 0.0049470230, 1 / 128, 3 / 256, 0.01])
def test_products_in_single_precision_are_rounded_as_they_are(scale: float) -> None:
    """By a scale, a sum and a shift, or by half_even: equal at every accumulator, or not offered."""
    reach, zero_point = 60_000, 5
    rounding = RealRounding(scale, np.arange(-127, 128), zero_point)
    acc = np.arange(-reach, reach + 1)
    wanted = np.clip(np.rint(acc.astype(np.float32) * np.float32(scale)).astype(np.int64) + zero_point, -128, 127)
    ends = np.array([-reach]), np.array([reach])
    fold, rule = fold_real(rounding, Reach(*ends)), rounding.as_half_even(*ends)
    if fold is not None:
        made = (acc * int(fold.scale[0]) >> ARRAY_SHIFT) + int(fold.add[0]) >> int(fold.shift[0])
        np.testing.assert_array_equal(np.clip(made, -128, 127), wanted)
    if rule is not None:
        made = fixed_point.scale_half_even(acc, *(np.array(n) for n in rule)) + zero_point
        np.testing.assert_array_equal(np.clip(made, -128, 127), wanted)
    # Powers of two have ties, which no line steps over; of 0.01 single precision makes some.
    assert (fold is not None or rule is not None) == (scale != 0.01)
    assert (fold is None) == (scale in (1 / 128, 3 / 256, 0.01))


@pytest.mark.parametrize("zero_point", [0, -5, 3, 20])
def test_halves_of_short_scales_go_to_even(zero_point: int) -> None:
    """Beside channels that a line steps over; a channel whose product is neither is refused."""
    rule = Requant("half_even", 0, zero_point, -128, 127)
    first, second = np.array([43 << 25, 1 << 30, 1680149881]), np.array([39, 37, 39])
    reach, bias = Reach(np.full(3, -90_000), np.full(3, 90_000)), np.array([-300, 64, 777])
    assert fold_exactly(rule, first, second, reach, bias) is None
    fold = fold_to_even(rule, first, second, reach, bias)
    assert fold is not None and (fold.shift >= TO_EVEN).tolist() == [True, True, False]
    acc = np.repeat(np.arange(-90_000, 90_001)[:, None], 3, axis=1)
    product = acc * fold.scale >> ARRAY_SHIFT
    assert np.abs(product + fold.add).max() < 1 << 31
    made = Requant("shift_even", 0, zero_point, -128, 127).apply(product, [fold.shift, fold.add])
    np.testing.assert_array_equal(made, rule.apply(acc + bias, [first, second]))
    huge = Reach(np.full(3, -(1 << 29)), np.full(3, 1 << 29))
    assert fold_to_even(rule, first, second, huge, bias) is None


def test_offsets_of_products_take_a_bit_more_where_they_need_it() -> None:
    """Of many accumulators 30 bits of the product do not tell all steps, 31 do."""
    source, channels = np.random.default_rng(1), 6
    rule, (mul, shift) = (
        Requant("offset_half_even", 0, 0, -128, 127),
        single_rounding_multipliers(source.uniform(1 / 1800, 1 / 1200, channels)),
    )
    packed = pack_offset(source.integers(-(1 << 23), 1 << 23, channels) * OFFSET_UNIT, shift)
    reach, bias = Reach(np.full(channels, -4_400_000), np.full(channels, 4_500_000)), np.full(channels, -1234)
    fold = fold_exactly(rule, mul, packed, reach, bias)
    assert fold is not None and fold.bits is not None and set(fold.bits.tolist()) == {30, 31}
    for channel in range(channels):
        one, acc = slice(channel, channel + 1), np.append(np.arange(-300_000, 300_001), [-4_400_000, 4_500_000])
        part = ExactFold(fold.scale[one], fold.add[one], fold.shift[one], bits=fold.bits[one])
        assert np.abs(acc * fold.scale[channel] >> ARRAY_SHIFT).max() <= part.largest(4_500_000)[0]
        expected = rule.apply(acc[:, None] + bias[channel], [mul[one], packed[one]])
        np.testing.assert_array_equal(finished(part, acc[:, None], rule), expected)


@pytest.mark.parametrize("shift", [38, 44])
@settings(max_examples=6)
@given(seed=st.integers(0, 10_000))
def test_long_products_with_a_summand_for_each_channel(shift: int, seed: int) -> None:
    source = np.random.default_rng(seed)
    low, high = RANGES[seed % 2]
    rule = Requant("pulp", shift, 0, low, high, wide=True)
    first = source.integers(1 << 29, (1 << 31) - 1, CHANNELS)
    second = source.integers(-first // 2, first // 2)
    ends = source.integers(1 << 12, 1 << 18, (2, CHANNELS))
    bias = source.integers(-1 << 18, 1 << 18, CHANNELS)
    fold = fold_exactly(rule, first, second, Reach(-ends[0], ends[1]), bias)
    assert fold is not None
    for channel in range(CHANNELS):
        acc = np.arange(-ends[0, channel], ends[1, channel] + 1)[:, None]
        one = slice(channel, channel + 1)
        part = ExactFold(fold.scale[one], fold.add[one], fold.shift[one])
        expected = rule.apply(acc + bias[channel], [first[one], second[one]])
        np.testing.assert_array_equal(finished(part, acc, rule), expected)
