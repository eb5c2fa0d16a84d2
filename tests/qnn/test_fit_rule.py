"""Requantizations as one multiplication, one addition and one shift: equal on every sum, or not there."""

import numpy as np
import pytest

from tvm_pulp.qnn.fit_rule import FRACTION, FittedRule, Sums, fit_rule
from tvm_pulp.qnn.requant import Requant

LIMITS = (-128, 127)


def random_sums(kind: str, seed: int, reach: int = 40000) -> Sums:
    """A rule of eight channels whose factors differ by up to 2^6, zero points and clipping as networks have them."""
    rng = np.random.default_rng(seed)
    scales = 2.0 ** rng.uniform(-13, -7, 8)
    zero_point = int(rng.integers(-128, 128))
    requant = Requant(kind, 20 if kind == "pulp" else 0, zero_point, *LIMITS)
    if kind == "pulp":
        first, second = np.rint(scales * 2**20), rng.integers(0, 1 << 20, 8)
    else:
        exponent = np.ceil(np.log2(scales))
        first = np.rint(scales * 2.0 ** (31 - exponent))
        second = exponent if kind == "tflite" else 31 - exponent
    operands = (first.astype(np.int64), second.astype(np.int64))
    bias = rng.integers(-20000, 20000, 8)
    return Sums(requant, operands, bias, np.full(8, -reach), rng.integers(reach // 2, reach, 8))


def computed(fitted: FittedRule, points: np.ndarray) -> np.ndarray:
    """The formula that kernels compute, in wide integers."""
    points = points + fitted.start[:, None]
    below = np.zeros_like(points) if fitted.less is None else np.where(points < 0, fitted.less[:, None], 0)
    high = (points << fitted.shift[:, None]) * fitted.multiply[:, None] >> 32
    assert np.abs(points << fitted.shift[:, None]).max() < 1 << 31
    assert np.abs(fitted.add[:, None] + below + high).max() < 1 << 31
    return np.clip((fitted.add[:, None] + below + high) >> FRACTION, *LIMITS)


@pytest.mark.parametrize("kind", ["tflite", "half_up", "half_even", "pulp"])
def test_every_sum_gives_the_same_result(kind: str) -> None:
    found = 0
    for seed in range(6):
        sums = random_sums(kind, seed)
        fitted = fit_rule(sums, LIMITS)
        if fitted is None:
            continue
        found += 1
        assert (fitted.multiply < 1 << 31).all() and (fitted.multiply >= 0).all()
        points = np.linspace(sums.lowest, sums.highest, 1 << 14).astype(np.int64).T
        np.testing.assert_array_equal(computed(fitted, points), sums.results(points))
    assert found == 6, "rules of networks can be written so"


def test_ties_of_tflite_below_zero_need_a_constant_of_their_own() -> None:
    # A factor of exactly an eighth: -0.5 becomes -1, 0.5 becomes 1.
    requant = Requant("tflite", 0, 0, *LIMITS)
    operands = (np.array([1 << 30]), np.array([-2]))
    sums = Sums(requant, operands, np.zeros(1, np.int64), np.array([-300]), np.array([300]))
    fitted = fit_rule(sums, LIMITS)
    assert fitted is not None and fitted.less is not None
    points = np.arange(-300, 301)[None, :]
    np.testing.assert_array_equal(computed(fitted, points), sums.results(points))


def test_ties_to_even_have_no_such_form() -> None:
    requant = Requant("half_even", 0, 0, *LIMITS)
    sums = Sums(requant, (np.array([1]), np.array([1])), np.zeros(1, np.int64), np.array([-300]), np.array([300]))
    assert fit_rule(sums, LIMITS) is None


def test_factors_that_are_not_positive_have_no_such_form() -> None:
    sums = random_sums("pulp", 0)
    negative = Sums(sums.requant, (-sums.operands[0], sums.operands[1]), sums.bias, sums.lowest, sums.highest)
    assert fit_rule(negative, LIMITS) is None
