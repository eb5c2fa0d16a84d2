"""A layer's requantization as the engine's: one 8-bit multiplier, one shift, a summand behind it, halves up.

The dialect's rules are `floor((n * mul + add) / 2^shift)`; the engine computes
`floor(((n + q) * m + 2^(t-1)) / 2^t) + z` with `q` inside the bias. Powers of two in `mul` shorten the shift. What is
left of it is odd, so it has an inverse modulo `2^t`, and one `q` gives exactly the layer's `add`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import refuse_if
from uma_backends.ita.geometry import BIAS_BITS, LARGEST_MULTIPLIER, LARGEST_SHIFT
from uma_backends.ita.reference import ItaRequantization, Relu

_SIGNED, _POSITIVE = (-128, 127), (0, 127)


@dataclass(frozen=True)
class Rule:
    """The engine's rule for sums to which `summand` was added, negated before where `negated`."""

    rule: ItaRequantization
    summand: int = 0
    negated: bool = False
    activation: Relu | None = None  # where the layer's result is not negative


def rule_of(requant: Requant, constants: Sequence[Tensor], add_bits: int = 8) -> Rule:
    """The engine's form of a layer's requantization; `add_bits` has its summand behind the shift."""
    tensors = [t.data for t in constants if t.data is not None]
    refuse_if(requant.kind != "none" and len(tensors) < len(constants), "its requantization is not constant")
    return rule_of_numbers(requant, tensors, add_bits)


def rule_of_numbers(requant: Requant, tensors: Sequence[np.ndarray], add_bits: int = 8) -> Rule:
    """The same for constants that are known."""
    refuse_if(requant.kind == "none", "its result has 32 bits: the engine writes 8 only")
    per_channel = any((t != t.flat[0]).any() for t in tensors)
    refuse_if(per_channel, "it is requantized per channel: the engine has one multiplier per tensor")
    clip = (requant.low, requant.high)
    refuse_if(
        clip not in (_SIGNED, _POSITIVE) or requant.out_dtype != "int8",
        f"its result is clipped to {requant.low}..{requant.high}: the engine writes -128..127, or 0..127 by ReLU",
    )
    mul, other = (int(t.flat[0]) for t in tensors)
    if requant.kind == "pulp":
        found = exact_rule(mul, other, requant.shift, add_bits)
    else:
        refuse_if(requant.kind != "half_up", f"{requant.kind} requantization rounds in a way the engine cannot")
        refuse_if(other < 0, "its requantization shifts to the left")
        found = exact_rule(mul, ((1 << other) >> 1) + (requant.zero_point << other), other, add_bits)
    return replace(found, activation=Relu() if clip == _POSITIVE else None)


def exact_rule(mul: int, add: int, shift: int, add_bits: int = 8) -> Rule:
    """The rule for `floor((n * mul + add) / 2^shift)`."""
    refuse_if(mul == 0, "its multiplier is zero")
    size = abs(mul)
    twos = min((size & -size).bit_length() - 1, shift)
    multiplier, add, shift = size >> twos, add >> twos, shift - twos
    bits = multiplier.bit_length()
    refuse_if(multiplier > LARGEST_MULTIPLIER, f"its multiplier has {bits} bits: the engine multiplies by 8")
    refuse_if(shift > LARGEST_SHIFT, f"its shift is {shift}: the engine shifts by {LARGEST_SHIFT} at most")
    target, end = add - ((1 << shift) >> 1), 1 << add_bits - 1
    if shift:
        summand = target * pow(multiplier, -1, 1 << shift) % (1 << shift)
        behind = (target - summand * multiplier) >> shift
        # 2^shift in front are `multiplier` behind.
        turns = 0 if -end <= behind < end else _round_divide(behind, multiplier)
        behind, summand = behind - turns * multiplier, summand + (turns << shift)
    else:
        summand = 0 if -end <= target < end else _round_divide(target, multiplier)
        behind = target - summand * multiplier
    fits = -end <= behind < end and abs(summand) < 1 << (BIAS_BITS - 1)
    refuse_if(not fits, "its summand is beyond what bias and requantization of the engine can hold")
    return Rule(ItaRequantization(multiplier, shift, behind), summand, mul < 0)


def _round_divide(value: int, divisor: int) -> int:
    return (2 * value + divisor) // (2 * divisor)


def silent_bias(rule: ItaRequantization) -> int | None:
    """A bias that the rule turns into zero, or None where there is none of 24 bits."""
    near = -round((rule.add << rule.shift) / rule.multiplier)
    fits = (b for b in (near, near - 1, near + 1) if abs(b) < 1 << (BIAS_BITS - 1))
    return next((b for b in fits if rule.apply(np.array([b]))[0] == 0), None)
