"""Sums that leave the engine digit by digit: which digits, that they are exact, and through compiler and model."""

import numpy as np
import pytest

from tvm_pulp.qnn.fixed_point import quantize_multipliers, tie_free_multipliers
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import Refused
from uma_backends.ita.digits import Digits, choose_digits, needed_sums
from uma_backends.ita.geometry import MOST_TILES

from .networks import engines, run_on_ita


@pytest.mark.parametrize("steps", [(128, 1), (256, 1), *((128 * n, 128, 1) for n in range(1, 13))])
def test_digits_join_to_the_sum(steps: tuple[int, ...]) -> None:
    """Every sum up to the reach comes whole, larger ones saturate there or beyond."""
    digits = Digits(steps)
    sums = np.arange(-digits.reach - 3000, digits.reach + 3000)
    joined = np.zeros_like(sums)
    for number, step in enumerate(steps):
        joined = joined + step * digits.rule(number).apply(sums - joined)
    inside = np.abs(sums) <= digits.reach
    np.testing.assert_array_equal(joined[inside], sums[inside])
    assert joined[sums > digits.reach].min() >= digits.reach
    assert joined[sums < -digits.reach].max() <= -digits.reach


def test_needed_sums_are_those_between_saturated_results() -> None:
    rule = Requant("half_even", 0, 5, -128, 127, dtype="int8")
    constants = list(tie_free_multipliers(np.array([1 / 300, 1 / 100])))
    low, high = needed_sums(rule, constants, 1 << 20)
    sums = np.stack([np.array([low - 1, low, high, high + 1])] * 2, axis=1)
    results = rule.apply(sums, constants)
    assert (results[:2] == -128).all() and (results[2:] == 127).all()
    assert (rule.apply(np.array([[low + 1, high - 1]] * 2).T, constants)[[0, 1], 0] == [-127, 126]).all()


def test_fewer_digits_where_they_do_and_a_reason_where_none_do() -> None:
    rule, bias = Requant("half_even", 0, -100, -128, 127, dtype="int8"), np.zeros(1)
    found = choose_digits(rule, list(tie_free_multipliers(np.array([1 / 100]))), 1 << 20, 2, bias)
    assert found.steps == (128, 1) and found.offset
    found = choose_digits(rule, list(tie_free_multipliers(np.array([1 / 800]))), 1 << 20, 2, bias)
    assert len(found.steps) == 3 and 2 + found.tiles <= MOST_TILES
    with pytest.raises(Refused, match="leave 5 beside the 10"):
        choose_digits(rule, list(tie_free_multipliers(np.array([1 / 800]))), 1 << 20, 10, bias)


@pytest.mark.parametrize(
    ("shape", "kind", "channels", "zero_point"),
    [((64, 64, 64), "half_even", 1, 0), ((70, 100, 150), "half_even", 150, -7), ((1, 130, 20), "tflite", 1, 11)],
)
def test_dense(shape: tuple[int, int, int], kind: str, channels: int, zero_point: int) -> None:
    rows, depth, columns = shape
    random = np.random.default_rng(rows)
    x = random.integers(-128, 128, (1, rows, depth)).astype(np.int8)
    w = random.integers(-127, 128, (columns, depth)).astype(np.int8)
    bias = random.integers(-9000, 9000, columns).astype(np.int32)
    reals = random.uniform(0.8, 1.7, channels) / (70 * np.sqrt(depth))
    rule = Requant(kind, 0, 4, -128, 127, dtype="int8")
    constants = list((quantize_multipliers if kind == "tflite" else tie_free_multipliers)(reals))

    def define(emit, inputs):  # type: ignore[no-untyped-def]
        attributes = {"zero_point": zero_point, "has_bias": 1, **rule.attributes()}
        return emit("dense", [*inputs, w, bias, *constants], attributes)

    run = run_on_ita({"x": x}, define)
    sums = (x.astype(np.int64) - zero_point) @ w.T.astype(np.int64) + bias
    np.testing.assert_array_equal(run.outputs[0], rule.apply(sums, constants))
    assert engines(run) == {"dense": "ita"}


@pytest.mark.parametrize("transposed", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("zero_points", [pytest.param((0, 0), marks=pytest.mark.slow), (-128, 5), (7, -60)])
def test_product(zero_points: tuple[int, int], transposed: bool) -> None:
    """Two leading indices, sizes that are no tiles, zero points of both sides."""
    za, zb = zero_points
    random = np.random.default_rng(9)
    a = random.integers(-128, 128, (1, 2, 70, 40)).astype(np.int8)
    b = random.integers(-128, 128, (1, 2, 40, 90)).astype(np.int8)
    rule = Requant("half_even", 0, -3, -128, 127, dtype="int8")
    constants = list(tie_free_multipliers(np.array([1 / 613.3])))

    def define(emit, inputs):  # type: ignore[no-untyped-def]
        fixed = {"zero_point_a": za, "zero_point_b": zb, "transpose_b": int(transposed)}
        return emit("matmul", [*inputs, *constants], {**fixed, **rule.attributes()})

    given = np.ascontiguousarray(b.swapaxes(-1, -2)) if transposed else b
    run = run_on_ita({"a": a, "b": given}, define)
    sums = (a.astype(np.int64) - za) @ (b.astype(np.int64) - zb)
    np.testing.assert_array_equal(run.outputs[0], rule.apply(sums, constants))
    assert engines(run) == {"matmul": "ita"}
