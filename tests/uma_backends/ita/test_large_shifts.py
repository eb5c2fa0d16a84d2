"""Shifts beyond the product: what the engine does, model and numpy alike, and that the compiler asks for none."""

import numpy as np
import pytest

from tests.uma_backends.flat_machine import L1_BASE, Machine
from tests.uma_backends.ita.jobs import BIAS_BY_COLUMN, NO_BIAS, Product, register_words
from tvm_pulp.uma.strategy import Refused
from uma_backends.ita.geometry import LARGEST_SHIFT
from uma_backends.ita.packing import pack_biases
from uma_backends.ita.reference import Activation, ItaGelu, ItaRequantization
from uma_backends.ita.registers import Constants, LayerKind, RequantSlot
from uma_backends.ita.requantization import exact_rule

SHIFTS = (33, 34, 35, 36, 40, 255)
SUMS = np.concatenate(
    [np.array([0, 1, -1, 2**23 - 1, -(2**23)]), np.random.default_rng(5).integers(-(2**23), 2**23, 59)]
)


def rounded(value: int, multiplier: int, shift: int) -> int:
    """The rule of the hardware: the rounding bit is one of the product's 35, behind them there is none."""
    product = value * multiplier
    return (product >> shift) + (product >> shift - 1 & 1 if shift <= 35 else 0)


def first_row(
    machine: Machine, rule: ItaRequantization, bias_kind: int, activation: Activation | None = None
) -> np.ndarray:
    product = Product(0, 0x4000, 0x8000, 1, 1, 1, 0xC000, bias_kind, has_activation=activation is not None)
    (job,) = register_words(LayerKind.LINEAR, Constants((1, 1, 1, 1), {RequantSlot.Q: rule}, activation), [product])
    machine.run(job)
    return machine.read_l1(L1_BASE + 0x8000, (64, 64), np.int8)[0]


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("multiplier", [1, 255])
def test_requantization(shift: int, multiplier: int, machine: Machine) -> None:
    """Sums are biases alone here."""
    rule = ItaRequantization(multiplier, shift, -3)
    expected = [rounded(int(value), multiplier, shift) - 3 for value in SUMS]
    np.testing.assert_array_equal(rule.apply(SUMS), expected)
    machine.write_l1(L1_BASE + 0xC000, pack_biases(SUMS))
    np.testing.assert_array_equal(first_row(machine, rule, BIAS_BY_COLUMN), expected)
    assert (min(expected) == -4) == (shift >= 36)


@pytest.mark.parametrize("shift", SHIFTS)
def test_behind_the_activation(shift: int, machine: Machine) -> None:
    """The activation unit requantizes alike: small negative values are -1 where they were 0."""
    inputs = np.arange(-32, 32)
    gelu = ItaGelu(-80, -7091, ItaRequantization(74, shift))
    machine.write_l1(L1_BASE, inputs.astype(np.int8))
    machine.write_l1(L1_BASE + 0x4000, np.eye(64, dtype=np.int8))
    found = first_row(machine, ItaRequantization(1, 0), NO_BIAS, gelu)
    np.testing.assert_array_equal(found, gelu.apply(inputs))
    assert (found.min() == -1) == (shift >= 36)


def test_the_compiler_shifts_by_33_at_most() -> None:
    """Larger shifts are refused, so that such sums leave the engine digit by digit."""
    assert LARGEST_SHIFT == 33
    half = 1 << 32
    assert exact_rule(77, half, 33).rule.shift == 33
    with pytest.raises(Refused, match="its shift is 34: the engine shifts by 33 at most"):
        exact_rule(77, 2 * half, 34)
    # Powers of two in the multiplier shorten the shift.
    assert exact_rule(154, 2 * half, 34).rule == ItaRequantization(77, 33)
