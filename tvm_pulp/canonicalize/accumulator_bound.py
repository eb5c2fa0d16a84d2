"""Static bound of a layer's 32-bit accumulator: decides whether requantization needs 64 bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import constant
from tvm_pulp.qnn.operator import spec_of


def accumulator_bound(call: Any) -> int | None:
    """Largest |accumulator| any input can cause, or None where nothing better than 32 bits is known."""
    rule = _RULES.get(qnn.name_of(call))
    return rule(call, qnn.attributes(call)) if rule else None


def _reach(expression: Any, zero_point: int) -> int:
    """Largest |x - zero_point|."""
    array = constant(expression)
    if array is not None:
        return int(np.abs(array.astype(np.int64) - zero_point).max(initial=0))
    low, high = spec_of(expression).range
    return max(abs(low - zero_point), abs(high - zero_point))


def _weighted(call: Any, attributes: dict[str, Any]) -> int:
    weight = np.abs(constant(call.args[1]).astype(np.int64))
    total = weight.reshape(weight.shape[0], -1).sum(axis=1) * _reach(call.args[0], attributes["zero_point"])
    if attributes["has_bias"]:
        total = total + np.abs(constant(call.args[2]).astype(np.int64))
    return int(total.max(initial=0))


def _reaches(call: Any, attributes: dict[str, Any]) -> list[int]:
    """Of both operands."""
    return [_reach(operand, attributes[f"zero_point_{side}"]) for operand, side in zip(call.args, "ab", strict=False)]


def _add(call: Any, attributes: dict[str, Any]) -> int | None:
    if attributes["form"] != "plain":
        return None
    total = 0
    for argument, prefix in zip(call.args[:2], ("requant_a", "requant_b"), strict=True):
        rule = qnn.Requant.of(attributes, prefix)
        total += max(abs(rule.low), abs(rule.high)) if rule.kind != "none" else _reach(argument, 0)
    return total


def _hardswish(call: Any, attributes: dict[str, Any]) -> int:
    return _reach(call.args[0], 0) * abs(attributes["six"] * attributes["one_over_six"])


def _gelu(call: Any, attributes: dict[str, Any]) -> int:
    b, one = attributes["b"], attributes["one"]
    return _reach(call.args[0], 0) * ((abs(one) + max(abs(one), abs(one - b * b))) // 2 + 1)


def _integer_div(call: Any, attributes: dict[str, Any]) -> int | None:
    numerator = _reach(call.args[0], 0) * abs(attributes["numerator"])
    if attributes["operands"] == 1:
        # Floored: one more than the quotient below zero.
        return numerator // abs(attributes["denominator"]) + 1
    eta, eps = attributes["eta"], attributes["eps"]
    divisor = constant(call.args[1])
    if divisor is not None:
        smallest = int(np.abs(divisor.astype(np.int64) * eta + eps).min(initial=np.iinfo(np.int64).max))
    else:
        ends = [bound * eta + eps for bound in spec_of(call.args[1]).range]
        # Of one sign the divisor is smallest at an end of its range; else it may be as small as one.
        smallest = min(map(abs, ends)) if ends[0] * ends[1] > 0 else 1
    return None if smallest == 0 else numerator // smallest + 1


_RULES: dict[str, Callable[[Any, dict[str, Any]], int | None]] = {
    "conv2d": _weighted,
    "dense": _weighted,
    "matmul": lambda call, attributes: math.prod(_reaches(call, attributes)) * spec_of(call.args[0]).shape[-1],
    "mul": lambda call, attributes: math.prod(_reaches(call, attributes)),
    "sub": lambda call, attributes: sum(_reaches(call, attributes)),
    "add": _add,
    "hardswish": _hardswish,
    "gelu": _gelu,
    "integer_div": _integer_div,
}
