"""Static bounds of a layer's 32-bit accumulator.

The largest one decides whether requantization needs 64 bits; least and largest of every channel are those that the
requantization has to be right for.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import constant, spec_of
from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.add import AddAttributes
from tvm_pulp.qnn.elementwise import GeluAttributes, IntegerDivAttributes
from tvm_pulp.qnn.record import LinearAttributes
from tvm_pulp.qnn.requant import weighted_reach


def accumulator_bound(call: Any) -> int | None:
    """Largest |accumulator| any input can cause, or None where nothing better than 32 bits is known."""
    rule = _RULES.get(qnn.name_of(call))
    return rule(call, qnn.attributes(call)) if rule else None


def _reach(expression: Any, zero_point: int) -> int:
    """Largest |x - zero_point|."""
    return max(map(abs, _ends(expression, zero_point)))


def _weighted(call: Any, attributes: LinearAttributes) -> int:
    bias = constant(call.args[2]) if attributes.has_bias else None
    return weighted_reach(constant(call.args[1]), _reach(call.args[0], attributes.zero_point), bias)


def _reaches(call: Any, attributes: dict[str, Any]) -> list[int]:
    return [_reach(operand, attributes[f"zero_point_{side}"]) for operand, side in zip(call.args, "ab", strict=False)]


def _add(call: Any, attributes: AddAttributes) -> int | None:
    if attributes.form != "plain":
        return None
    total = 0
    for argument, prefix in zip(call.args[:2], ("requant_a", "requant_b"), strict=True):
        rule = qnn.Requant.of(attributes, prefix)
        total += max(abs(rule.low), abs(rule.high)) if rule.kind != "none" else _reach(argument, 0)
    return total


def _gelu(call: Any, attributes: GeluAttributes) -> int:
    b, one = attributes.b, attributes.one
    return _reach(call.args[0], 0) * ((abs(one) + max(abs(one), abs(one - b * b))) // 2 + 1)


def _integer_div(call: Any, attributes: IntegerDivAttributes) -> int | None:
    numerator = _reach(call.args[0], 0) * abs(attributes.numerator)
    if attributes.operands == 1:
        # Floored: one more than the quotient below zero.
        return numerator // abs(attributes.denominator) + 1
    eta, eps = attributes.eta, attributes.eps
    divisor = constant(call.args[1])
    if divisor is not None:
        smallest = int(np.abs(divisor.astype(np.int64) * eta + eps).min(initial=np.iinfo(np.int64).max))
    else:
        ends = [bound * eta + eps for bound in spec_of(call.args[1]).range]
        # Of one sign the divisor is smallest at an end of its range; else it may be as small as one.
        smallest = min(map(abs, ends)) if ends[0] * ends[1] > 0 else 1
    return None if smallest == 0 else numerator // smallest + 1


_RULES: dict[str, Callable[[Any, Any], int | None]] = {
    "conv2d": _weighted,
    "dense": _weighted,
    "matmul": lambda call, attributes: math.prod(_reaches(call, attributes)) * spec_of(call.args[0]).shape[-1],
    "mul": lambda call, attributes: math.prod(_reaches(call, attributes)),
    "sub": lambda call, attributes: sum(_reaches(call, attributes)),
    "add": _add,
    "hardswish": lambda call, a: _reach(call.args[0], 0) * abs(a["six"] * a["one_over_six"]),
    "gelu": _gelu,
    "integer_div": _integer_div,
}


def accumulator_interval(call: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both ends, bias included; one element, or one per channel of a layer with constant weights."""
    attributes = qnn.attributes(call)
    weights = constant(call.args[1]) if qnn.is_qnn(call, "conv2d", "dense") else None
    if weights is not None:
        return _channels(call, qnn.attributes(call, LinearAttributes), weights)
    if qnn.is_qnn(call, "requantize"):
        low, high = spec_of(call.args[0]).range
        return np.array([low - attributes["zero_point"]]), np.array([high - attributes["zero_point"]])
    if qnn.is_qnn(call, "avg_pool"):
        taps = math.prod(attributes["kernel"])
        low, high = (taps * (limit - attributes["zero_point"]) for limit in spec_of(call.args[0]).range)
        return np.array([min(low, 0)]), np.array([max(high, 0)])
    if qnn.is_qnn(call, "mul", "matmul"):
        ends = (_ends(x, attributes[f"zero_point_{side}"]) for x, side in zip(call.args, "ab", strict=False))
        times = spec_of(call.args[0]).shape[-1] if qnn.is_qnn(call, "matmul") else 1
        corners = [x * y * times for x, y in itertools.product(*ends)]
        return _limited(min(corners)), _limited(max(corners))
    if qnn.is_qnn(call, "add") and attributes["form"] == "tflite":
        return _common_scale(call, qnn.attributes(call, AddAttributes))
    bound = accumulator_bound(call)
    reach = bound if bound is not None else 1 << 31
    return np.array([-reach]), np.array([reach])


def _ends(expression: Any, zero_point: int) -> tuple[int, int]:
    """Least and largest x - zero_point."""
    array = constant(expression)
    if array is not None and array.size:
        return int(array.min()) - zero_point, int(array.max()) - zero_point
    low, high = spec_of(expression).range
    return low - zero_point, high - zero_point


def _limited(value: int) -> np.ndarray:
    """Beyond 62 bits one value is as unknown as another."""
    return np.array([max(-(1 << 62), min(1 << 62, value))])


def _common_scale(call: Any, attributes: AddAttributes) -> tuple[np.ndarray, np.ndarray]:
    """Sum or difference of two operands that were brought to TFLite's common scale by factors that are not negative."""
    sides = zip(call.args, "ab", attributes.multipliers, attributes.exponents, strict=False)
    a, b = (
        fixed_point.multiply(
            np.array(_ends(x, attributes[f"zero_point_{s}"])) << attributes.left_shift,
            np.array(mul),
            np.array(exponent),
        )
        for x, s, mul, exponent in sides
    )
    low, high = a - b[::-1] if attributes.subtract else a + b
    return np.array([low]), np.array([high])


def _channels(call: Any, attributes: LinearAttributes, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Padding adds nothing, so that it lies between."""
    ends = [limit - attributes.zero_point for limit in spec_of(call.args[0]).range]
    flat = weights.astype(np.int64).reshape(weights.shape[0], -1)
    products = [flat * min(ends[0], 0), flat * max(ends[1], 0)]
    low, high = np.minimum(*products).sum(axis=1), np.maximum(*products).sum(axis=1)
    if attributes.has_bias:
        bias = constant(call.args[2]).astype(np.int64)
        low, high = low + bias, high + bias
    return low, high
