"""Folding a layer's arithmetic into the array: exact where it says so, within its bound where it approximates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Refused
from uma_backends.conv_array.arithmetic.layer_arithmetic import LayerArithmetic, arithmetic_of

RANGES = [(-128, 127), (0, 255)]


def dense(rule: Requant, weight: np.ndarray, first: np.ndarray, second: np.ndarray, zero_point: int = 0) -> Layer:
    """A fully connected layer without bias."""
    attributes = {**rule.attributes(), "zero_point": zero_point, "has_bias": 0}
    constants = [
        Tensor(f"c{i}", TensorSpec(tuple(a.shape), str(a.dtype)), "constant", data=a)
        for i, a in enumerate((weight, first.astype(np.int32), second.astype(np.int32)))
    ]
    x = Tensor("x", TensorSpec((1, weight.shape[1]), "int8"), "input")
    y = Tensor("y", TensorSpec((1, weight.shape[0]), rule.out_dtype), "output")
    return Layer("layer", "dense", attributes, [x, *constants], [y], None)


def array_result(made: LayerArithmetic, rule: Requant, acc: np.ndarray) -> np.ndarray:
    """What the array delivers for raw accumulators: multiply, add, floor, clip."""
    shift = made.requantization.shift if made.shift is None else made.shift.astype(np.int64)
    product = acc * made.scale.astype(np.int64)
    total = product + made.bias.astype(np.int64)
    # Nothing wraps around, so that every model of the hardware agrees.
    assert max(np.abs(product).max(), np.abs(total).max()) < 1 << 31
    return np.clip(total >> shift, rule.low, rule.high)


def accumulators(weight: np.ndarray, source: np.random.Generator) -> np.ndarray:
    """Accumulators that inputs can reach: extremes of every channel and values in between."""
    reach = np.abs(weight.astype(np.int64)).sum(axis=1) * 127
    return np.concatenate([reach[None], -reach[None], source.integers(-reach, reach + 1, (4000, len(reach)))])


@pytest.mark.parametrize("kind", ["tflite", "half_up", "half_even"])
@given(seed=st.integers(0, 10_000), depth=st.sampled_from([4, 64, 500]), exponent=st.integers(-14, -3))
def test_native_rounding_stays_within_its_bound(kind: str, seed: int, depth: int, exponent: int) -> None:
    source = np.random.default_rng(seed)
    channels = 5
    weight = source.integers(-128, 128, (channels, depth)).astype(np.int8)
    low, high = RANGES[seed % 2]
    rule = Requant(kind, 0, int(source.integers(low, high + 1)), low, high)
    first = source.integers(1 << 30, (1 << 31) - 1, (channels,))
    exponents = exponent + source.integers(-2, 3, (channels,))
    second = exponents if kind == "tflite" else 31 - exponents
    made = arithmetic_of(dense(rule, weight, first, second), native_rounding=True)
    if not made.native:
        assert made.why_not_native and made.output_bits == 32 and made.deviation == 0
        return
    acc = accumulators(weight, source)
    expected = rule.apply(acc, [first, second]).astype(np.int64)
    assert np.abs(array_result(made, rule, acc) - expected).max() <= made.deviation


def test_factors_far_apart_get_a_shift_per_channel() -> None:
    """One shift would leave the third channel a scale of one: a shift each keeps every result within one unit."""
    source = np.random.default_rng(5)
    weight = source.integers(-128, 128, (3, 500)).astype(np.int8)
    first, exponents = np.array([1 << 30, 3 << 29, 1431655765]), np.array([-8, -1, -11])
    rule = Requant("tflite", 0, 3, -128, 127)
    made = arithmetic_of(dense(rule, weight, first, exponents), native_rounding=True)
    assert made.shift is not None
    assert made.requantization.shift_vector and made.deviation == 1
    acc = accumulators(weight, source)
    expected = rule.apply(acc, [first, exponents]).astype(np.int64)
    assert np.abs(array_result(made, rule, acc) - expected).max() <= 1


@given(seed=st.integers(0, 10_000), shift=st.integers(0, 20), bits=st.integers(1, 10))
def test_pulp_requantization_is_exact_or_left_to_the_cores(seed: int, shift: int, bits: int) -> None:
    source = np.random.default_rng(seed)
    weight = source.integers(-128, 128, (4, 30)).astype(np.int8)
    rule = Requant("pulp", shift, 0, *RANGES[seed % 2])
    first = source.integers(1, (1 << bits) + 1, (4,))
    second = source.integers(-(1 << 20), 1 << 20, (4,))
    made = arithmetic_of(dense(rule, weight, first, second), native_rounding=False)
    assert made.deviation == 0
    acc = accumulators(weight, source)
    if made.native:
        expected = rule.apply(acc, [first, second]).astype(np.int64)
        np.testing.assert_array_equal(array_result(made, rule, acc), expected)
    else:
        assert made.why_not_native == "the product may exceed 32 bits"


def test_what_the_array_cannot_do_has_a_reason() -> None:
    weight = np.full((2, 4), 3, np.int8)
    ones = np.ones(2, np.int64)

    def reason(rule: Requant, first: np.ndarray = ones, native: bool = False) -> str:
        made = arithmetic_of(dense(rule, weight, first, ones), native_rounding=native)
        return made.why_not_native

    assert reason(Requant("pulp", 3, 0, -128, 127)) == ""
    assert reason(Requant("pulp", 3, 0, -128, 127), -ones) == "a multiplier is negative"
    assert reason(Requant("pulp", 33, 0, -128, 127)) == "it shifts by 33"
    assert reason(Requant("pulp", 3, 0, -100, 100)) == "it clips to -100..100"
    assert reason(Requant("half_up", 0, 0, -128, 127)) == "half_up requantization rounds in a way the array cannot"
    wide = np.array([[-128, 127, 0, 0], [-128, 127, 0, 0]], np.int16) * 2
    with pytest.raises(Refused, match=r"^its weights span -256 to 254, more than 8 bits$"):
        arithmetic_of(dense(Requant(), wide, ones, ones), native_rounding=False)


@given(st.integers(2, 8), st.integers(0, 1000))
def test_weight_bits_are_as_few_as_the_values_need(bits: int, seed: int) -> None:
    low = -(1 << (bits - 1))
    weight = np.random.default_rng(seed).integers(low, -low, (3, 9)).astype(np.int8)
    weight.flat[:2] = low, -low - 1
    rule = Requant()
    layer = dense(rule, weight, np.ones(1), np.ones(1))
    layer.inputs = layer.inputs[:2]
    made = arithmetic_of(layer, native_rounding=False)
    assert (made.weight_bits, made.weight_offset) == (bits, low)


def test_long_products_with_summands_are_divided_between_array_and_cores() -> None:
    """As a framework's rounding: the array multiplies, the cores add and shift."""
    source = np.random.default_rng(8)
    weight = source.integers(-20, 21, (8, 300)).astype(np.int8)
    first = source.integers(1 << 30, (1 << 31) - 1, 8)
    second = source.integers(-(1 << 29), 1 << 29, 8)
    rule = Requant("pulp", 38, 0, -128, 127, wide=True, dtype="int8")
    made = arithmetic_of(dense(rule, weight, first, second), native_rounding=False)
    assert not made.native and made.rest is not None
    acc = accumulators(weight, source)
    product = (acc * made.scale.astype(np.int64) >> made.requantization.shift) + made.rest.add
    assert np.abs(product).max() < 1 << 31
    found = np.clip(product >> made.rest.shift, -128, 127)
    np.testing.assert_array_equal(found, rule.apply(acc, [first, second]))
