"""A layer's requantization as the engine's: one 8-bit multiplier, one shift, a summand behind it, halves up.

The dialect's rules are `floor((n * mul + add) / 2^shift)`; the engine computes
`floor(((n + q) * m + 2^(t-1)) / 2^t) + z` with `q` inside the bias. Powers of two in `mul` shorten the shift. What is
left of it is odd, so it has an inverse modulo `2^t`, and one `q` gives exactly the layer's `add`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.requant import Requant
from uma_backends.ita.geometry import BIAS_BITS, LARGEST_MULTIPLIER, LARGEST_SHIFT
from uma_backends.ita.reference import Relu, Requantization

_SIGNED, _POSITIVE = (-128, 127), (0, 127)


@dataclass(frozen=True)
class Rule:
    """The engine's rule for sums to which `summand` was added, negated before where `negated`."""

    rule: Requantization
    summand: int = 0
    negated: bool = False
    activation: Relu | None = None  # where the layer's result is not negative


def rule_of(requant: Requant, constants: Sequence[Tensor]) -> Rule | str:
    """The engine's form of a layer's requantization, or why it has none."""
    if requant.kind == "none":
        return "its result has 32 bits: the engine writes 8 only"
    if any(t.data is None for t in constants):
        return "its requantization is not constant"
    first, second = (t.data for t in constants)
    assert first is not None and second is not None
    if (first != first.reshape(-1)[0]).any() or (second != second.reshape(-1)[0]).any():
        return "it is requantized per channel: the engine has one multiplier per tensor"
    clip = (requant.low, requant.high)
    if clip not in (_SIGNED, _POSITIVE) or requant.out_dtype != "int8":
        return f"its result is clipped to {requant.low}..{requant.high}: the engine writes -128..127, or 0..127 by ReLU"
    mul, other = int(first.reshape(-1)[0]), int(second.reshape(-1)[0])
    if requant.kind == "pulp":
        found = exact_rule(mul, other, requant.shift)
    elif requant.kind == "half_up":
        if other < 0:
            return "its requantization shifts to the left"
        add = ((1 << other) >> 1) + (requant.zero_point << other)
        found = exact_rule(mul, add, other)
    else:
        return f"{requant.kind} requantization rounds in a way the engine cannot"
    if isinstance(found, str):
        return found
    return Rule(found.rule, found.summand, found.negated, Relu() if clip == _POSITIVE else None)


def exact_rule(mul: int, add: int, shift: int) -> Rule | str:
    """The rule for `floor((n * mul + add) / 2^shift)`."""
    if mul == 0:
        return "its multiplier is zero"
    size = abs(mul)
    twos = min((size & -size).bit_length() - 1, shift)
    multiplier, add, shift = size >> twos, add >> twos, shift - twos
    if multiplier > LARGEST_MULTIPLIER:
        return f"its multiplier has {multiplier.bit_length()} bits: the engine multiplies by 8"
    if shift > LARGEST_SHIFT:
        return f"its shift is {shift}: the engine shifts by {LARGEST_SHIFT} at most"
    target = add - ((1 << shift) >> 1)
    if shift:
        summand = target * pow(multiplier, -1, 1 << shift) % (1 << shift)
        behind = (target - summand * multiplier) >> shift
        # 2^shift in front are `multiplier` behind.
        turns = 0 if -128 <= behind <= 127 else _round_divide(behind, multiplier)
        behind, summand = behind - turns * multiplier, summand + (turns << shift)
    else:
        summand = 0 if -128 <= target <= 127 else _round_divide(target, multiplier)
        behind = target - summand * multiplier
    if not -128 <= behind <= 127 or abs(summand) >= 1 << (BIAS_BITS - 1):
        return "its summand is beyond what bias and requantization of the engine can hold"
    return Rule(Requantization(multiplier, shift, behind), summand, mul < 0)


def _round_divide(value: int, divisor: int) -> int:
    return (2 * value + divisor) // (2 * divisor)


def silent_bias(rule: Requantization) -> int | None:
    """A bias that the rule turns into zero, or None where there is none of 24 bits."""
    near = -round((rule.add << rule.shift) / rule.multiplier)
    for bias in (near, near - 1, near + 1):
        if abs(bias) < 1 << (BIAS_BITS - 1) and rule.apply(np.array([bias]))[0] == 0:
            return bias
    return None
