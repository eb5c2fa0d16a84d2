"""Random requantizations of every kind, as the dialect states them and as the kernels take them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.cluster.high_word import HighWord, fit_high_word
from tvm_pulp.qnn.fixed_point import OFFSET_UNIT, pack_offset, quantize_multipliers, single_rounding_multipliers
from tvm_pulp.qnn.requant import TO_EVEN, Requant, narrow_enough

KINDS = ("none", "pulp", "pulp_wide", "tflite", "half_up", "half_even")
# Those of layers with constant weights, which may have a bias of floats.
LAYER_KINDS = (*KINDS, "offset_half_even", "high_word")
_CODES = {
    "none": 0,
    "pulp": 1,
    "pulp_wide": 2,
    "tflite": 3,
    "half_up": 4,
    "half_even": 5,
    "shift": 6,
    "shift_even": 7,
    "shift_away": 8,
    "offset_half_even": 9,
    "high_word": 10,
}


@dataclass(frozen=True)
class Rule:
    """A requantization with its constant tensors."""

    requant: Requant
    operands: tuple[np.ndarray, ...]
    promised: bool = False
    """That `can_round_short` holds, which some kernels use."""
    upper: HighWord | None = None
    """The same rule by the upper half of a product, which kernels take instead."""

    def apply(self, acc: np.ndarray, axis: int = -1) -> np.ndarray:
        return self.requant.apply(acc, self.operands, axis)

    @property
    def fields(self) -> dict[str, Any]:
        """As struct tvm_pulp_requant."""
        rule = self.requant
        code = _CODES["pulp_wide" if rule.kind == "pulp" and rule.wide else rule.kind]
        mul, add = (o.astype(np.int32) for o in self.operands) if self.operands else (None, None)
        if self.upper is not None:
            numbers = self.upper.constants.reshape(-1)
            limits = {"zero_point": self.upper.middle, "low": rule.low, "high": rule.high, "wide_result": 0}
            kind = {"kind": _CODES["high_word"], "per_channel": 1, "shift": self.upper.shift}
            return {**kind, **limits, "mul": numbers, "add": numbers}
        return {
            "kind": code,
            "per_channel": int(mul is not None and mul.size > 1),
            "wide_result": {"int32": 1, "int16": 2, "uint16": 2}.get(rule.out_dtype, 0) if mul is not None else 0,
            "mul": mul,
            "add": add,
            "shift": int(self.promised) or rule.shift,
            "zero_point": rule.zero_point,
            "low": rule.low,
            "high": rule.high,
        }

    @property
    def bytes(self) -> int:
        """Of one result."""
        return int(np.dtype(self.requant.out_dtype).itemsize)


def random_range(rng: np.random.Generator) -> tuple[int, int]:
    """Clip limits: the usual full ranges, a smaller one, one that does not fit a byte."""
    choices = [(-128, 127), (0, 255), (0, 127), (-8, 7), (-100, 50), (-1000, 3000)]
    return choices[rng.choice(len(choices), p=(0.3, 0.3, 0.1, 0.1, 0.1, 0.1))]


def random_rule(rng: np.random.Generator, kind: str, bound: int, channels: int) -> Rule:
    """A rule that spreads accumulators up to `bound` over about the range of a byte; `channels` 1: per tensor."""
    if kind == "none":
        return Rule(Requant(), ())
    low, high = random_range(rng)
    while kind == "high_word" and not -128 <= low <= high <= 255:
        low, high = random_range(rng)
    scale = rng.uniform(0.5, 4, channels) * 256 / max(bound, 1)
    if kind.startswith("pulp"):
        wide = kind == "pulp_wide"
        room = 40 if wide else 30
        shift = int(rng.integers(8, 25) if wide else rng.integers(4, 20))
        shift = min(shift, room - 9)
        mul = np.maximum(1, np.round(scale * 2.0**shift)).astype(np.int64) * rng.choice([1, 1, 1, -1], channels)
        add = rng.integers(-100, 101, channels) * 2**shift + 2 ** (shift - 1)
        add = np.clip(add, -(2**29), 2**29)
        mul = np.clip(mul, -(2**31 - 1), 2**31 - 1)
        if not wide:
            mul = np.clip(mul, -max(1, 2**30 // max(bound, 1)), max(1, 2**30 // max(bound, 1)))
            assert narrow_enough(bound, mul, add) or bound > 2**30
        return Rule(Requant("pulp", shift, 0, low, high, wide), (mul.astype(np.int32), add.astype(np.int32)))
    zero_point = int(rng.integers(low, high + 1)) * int(rng.integers(3) > 0)
    if kind == "shift":
        shift = rng.integers(0, max(1, int(np.log2(bound / 32))), channels)
        add = rng.integers(low, high + 1, channels) << shift
        return Rule(Requant(kind, 0, 0, low, high), (shift.astype(np.int32), add.astype(np.int32)))
    if kind == "shift_even":
        # Some channels round to even, and half of the accumulators of a tensor are likely to lie on a half.
        shift = rng.integers(1, 4, channels)
        add = (zero_point << shift) + (1 << shift - 1)
        shift += TO_EVEN * rng.integers(0, 2, channels)
        return Rule(Requant(kind, 0, zero_point, low, high), (shift.astype(np.int32), add.astype(np.int32)))
    if kind == "shift_away":
        shift = rng.integers(3, max(4, int(np.log2(bound / 32))), channels)
        add = rng.integers(-100, 101, channels) << shift
        away = 1 << int(rng.integers(0, 3))
        return Rule(Requant(kind, away, zero_point, low, high), (shift.astype(np.int32), add.astype(np.int32)))
    if kind == "tflite":
        return Rule(Requant(kind, 0, zero_point, low, high), quantize_multipliers(scale))
    if kind == "offset_half_even":
        mul, shift = single_rounding_multipliers(scale)
        offset = rng.integers(-(1 << 24), 1 << 24, channels) * OFFSET_UNIT
        return Rule(Requant(kind, 0, zero_point, low, high), (mul, pack_offset(offset, shift)))
    if kind == "high_word":
        operands, ends = random_rule(rng, "offset_half_even", bound, channels).operands, np.full(channels, bound)
        requant = Requant("offset_half_even", 0, zero_point, low, high)
        upper = fit_high_word(requant, operands, -ends, ends)
        # A rule that has no such form is made anew.
        return Rule(requant, operands, upper=upper) if upper else random_rule(rng, kind, bound, channels)
    return Rule(Requant(kind, 0, zero_point, low, high), single_rounding_multipliers(scale))


def rule_of_halves(rng: np.random.Generator, kind: str, bound: int, channels: int, dtype: str) -> Rule:
    """A rule with one rounding that spreads accumulators up to `bound` over about the range of 16 bits."""
    limits = np.iinfo(dtype)
    low, high = (limits.min, limits.max) if rng.random() < 0.6 else (int(limits.min) // 2, int(limits.max) // 3)
    scale = rng.uniform(0.5, 4, channels) * 65536 / max(bound, 1)
    zero_point = int(rng.integers(low, high + 1)) * int(rng.integers(2))
    requant = Requant(kind, 0, zero_point, int(low), int(high), dtype=dtype)
    return Rule(requant, single_rounding_multipliers(np.minimum(scale, 0.9)))
