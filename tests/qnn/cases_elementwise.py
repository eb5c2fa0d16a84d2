"""Random calls of the element-wise operators."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, byte_type, integers, magnitude, pick, requant, zero_point
from tvm_pulp.qnn import curve
from tvm_pulp.qnn.fixed_point import quantize_multiplier
from tvm_pulp.qnn.requant import Requant


def shape(rng: Rng, least: int = 1, most: int = 4) -> tuple[int, ...]:
    """Odd sizes and size one, few elements."""
    return tuple(int(pick(rng, (1, 2, 3, 5, 7))) for _ in range(int(rng.integers(least, most + 1))))


def broadcastable(rng: Rng) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that numpy would broadcast; often equal, sometimes one has fewer axes."""
    full = shape(rng)
    if rng.random() < 0.3:
        return full, full
    a, b = list(full), list(full)
    for axis in range(len(full)):
        which = rng.random()
        if which < 0.25:
            a[axis] = 1
        elif which < 0.5:
            b[axis] = 1
    shorter = b[int(rng.integers(0, len(full) + 1)) :] if rng.random() < 0.4 else b
    pair = (tuple(a), tuple(shorter))
    return pair if rng.random() < 0.5 else (pair[1], pair[0])


def last_axis(*shapes: tuple[int, ...]) -> int:
    result = np.broadcast_shapes(*shapes)
    return int(result[-1]) if result else 1


def binary(operator: str, reach: Callable[[int, int], int]) -> Callable[[Rng], Case]:
    """Generator for an operator on two tensors whose result is at most `reach` of their magnitudes."""

    def case(rng: Rng) -> Case:
        shape_a, shape_b = broadcastable(rng)
        a, b = integers(rng, shape_a, byte_type(rng)), integers(rng, shape_b, byte_type(rng))
        zeros = {"zero_point_a": zero_point(rng, str(a.dtype)), "zero_point_b": zero_point(rng, str(b.dtype))}
        bound = reach(magnitude(a, zeros["zero_point_a"]), magnitude(b, zeros["zero_point_b"]))
        rule, tensors = requant(rng, bound, last_axis(shape_a, shape_b))
        return Case(operator, {**zeros, **rule.attributes()}, [a, b, *tensors])

    return case


def add(rng: Rng) -> Case:
    form = str(pick(rng, ("plain", "plain", "half_even", "tflite")))
    shape_a, shape_b = broadcastable(rng)
    a, b = integers(rng, shape_a, byte_type(rng)), integers(rng, shape_b, byte_type(rng))
    zeros = {"zero_point_a": zero_point(rng, str(a.dtype)), "zero_point_b": zero_point(rng, str(b.dtype))}
    channels = last_axis(shape_a, shape_b)
    attributes: dict[str, Any] = {"form": form, **zeros}
    if form == "plain":
        rules, tensors, bound = {}, [], 0
        # Operands have one constant each: a per-channel one would run along the result's last axis.
        for prefix, operand in (("requant_a", a), ("requant_b", b)):
            rule, constants = requant(rng, magnitude(operand), 1, pick(rng, ("none", "pulp")))
            rules |= rule.attributes(prefix)
            tensors += constants
            bound += magnitude(operand) if rule.kind == "none" else max(abs(rule.low), abs(rule.high))
        rule, constants = requant(rng, bound, channels)
        return Case("add", {**attributes, **rules, **rule.attributes()}, [a, b, *tensors, *constants])
    if form == "half_even":
        low, high = pick(rng, ((-128, 127), (0, 255)))
        shift = int(rng.integers(20, 34))
        attributes |= {"multipliers": [int(m) for m in rng.integers(1, 1 << 30, 2)], "shift": shift}
        rule = Requant("half_even", 0, int(rng.integers(-128, 128)), low, high)
        return Case("add", {**attributes, **rule.attributes()}, [a, b])
    scales = rng.uniform(0.01, 1.0, 2)
    pairs = [quantize_multiplier(float(s / (2 * scales.max()))) for s in scales]
    attributes |= {"multipliers": [p[0] for p in pairs], "exponents": [p[1] for p in pairs]}
    attributes["subtract"] = int(rng.integers(2))
    rule, tensors = requant(rng, 1 << 30, 1, "tflite")
    return Case("add", {**attributes, **rule.attributes()}, [a, b, *tensors])


def requantize(rng: Rng) -> Case:
    dims = shape(rng)
    axis = int(rng.integers(-len(dims), len(dims)))
    dtype = str(pick(rng, ("int8", "uint8", "int16", "int32")))
    x = integers(rng, dims, dtype)
    # A rule with two roundings shifts left inside 32 bits, so its accumulators are smaller.
    x = x // (1 << 8) if dtype == "int32" else x
    zero = int(rng.integers(-100, 100)) if rng.random() < 0.5 else 0
    rule, tensors = requant(rng, (1 << 23 if dtype == "int32" else magnitude(x)) + 100, dims[axis])
    return Case("requantize", {"zero_point": zero, "axis": axis, **rule.attributes()}, [x.astype(dtype), *tensors])


def hardswish(rng: Rng) -> Case:
    x = integers(rng, shape(rng), byte_type(rng))
    six, sixth = int(rng.integers(1, 200)), int(rng.integers(1, 1000))
    rule, tensors = requant(rng, magnitude(x) * six * sixth, x.shape[-1])
    return Case("hardswish", {"three": six // 2, "six": six, "one_over_six": sixth, **rule.attributes()}, [x, *tensors])


def gelu(rng: Rng) -> Case:
    x = integers(rng, shape(rng), byte_type(rng))
    b, one = -int(rng.integers(1, 200)), int(rng.integers(1, 50_000))
    bound = magnitude(x) * ((one + max(one, abs(one - b * b))) // 2 + 1)
    rule, tensors = requant(rng, bound, x.shape[-1])
    return Case("gelu", {"b": b, "one": one, **rule.attributes()}, [x, *tensors])


def integer_div(rng: Rng) -> Case:
    numerator = int(pick(rng, (1, 7, 256, 16384, -3)))
    if rng.random() < 0.5:
        x = integers(rng, shape(rng), byte_type(rng))
        denominator = int(pick(rng, (1, 2, 3, 400_001, -5)))
        rule, tensors = requant(rng, magnitude(x) * abs(numerator), x.shape[-1])
        attributes = {"operands": 1, "numerator": numerator, "denominator": denominator}
        return Case("integer_div", {**attributes, **rule.attributes()}, [x, *tensors])
    shape_a, shape_b = broadcastable(rng)
    a, b = integers(rng, shape_a, byte_type(rng)), integers(rng, shape_b, byte_type(rng))
    # An odd offset to an even multiple is never zero, whatever the sign of b.
    attributes = {"operands": 2, "numerator": numerator, "eta": 2 * int(rng.integers(1, 50)), "eps": 1}
    rule, tensors = requant(rng, (magnitude(a) + 1) * abs(numerator), last_axis(shape_a, shape_b))
    return Case("integer_div", {**attributes, **rule.attributes()}, [a, b, *tensors])


def lookup(rng: Rng) -> Case:
    x = integers(rng, shape(rng), byte_type(rng))
    return Case("lookup", {}, [x, integers(rng, (256,), str(pick(rng, ("int8", "uint8", "int32"))))])


def gate(rng: Rng) -> Case:
    a = integers(rng, shape(rng), byte_type(rng))
    b, table = integers(rng, a.shape, byte_type(rng)), integers(rng, (256,), byte_type(rng))
    rule, tensors = requant(rng, magnitude(table) * magnitude(b), 1)
    return Case("gate", rule.attributes(), [a, b, table, *tensors])


def no_norm(rng: Rng) -> Case:
    dims = shape(rng)
    x = integers(rng, dims, byte_type(rng))
    weight = rng.integers(-(1 << 20), 1 << 20, pick(rng, (dims, dims[-1:], (1,)))).astype(np.int32)
    bias = rng.integers(-(1 << 28), 1 << 28, pick(rng, (dims, dims[-1:], (1,)))).astype(np.int32)
    levels = int(pick(rng, (16, 256, 1 << 16)))
    attributes = {"mul": int(rng.integers(-300, 300)), "shift": int(rng.integers(0, 31)), "levels": levels}
    return Case("no_norm", attributes, [x, weight, bias])


def add_accumulators(rng: Rng) -> Case:
    """Accumulators or bytes on either side, multipliers of one channel or all; every summand below 2^29."""
    size = shape(rng)
    axis, fraction = int(rng.integers(len(size))), int(rng.integers(1, 21))
    rule = Requant("half_up", 0, 3, -100, 127, dtype="int8")
    attributes: dict[str, Any] = {**rule.attributes(), "axis": axis, "fraction": fraction}
    data, factors = [], []
    for side in "ab":
        dtype = str(pick(rng, ("int8", "uint8", "int32")))
        left = int(rng.integers(0, 8)) if dtype == "int32" else 0
        most = (1 << 60) // (1 << (23 + left)) if dtype == "int32" else 1 << 20
        channels = size[axis] if dtype == "int32" and rng.random() < 0.6 else 1
        values = rng.integers(-(1 << 23), 1 << 23, size).astype(np.int32)
        data.append(values if dtype == "int32" else integers(rng, size, dtype))
        factors.append(rng.integers(0, min(most, 1 << 31), channels).astype(np.int32))
        attributes[f"left_{side}"] = left
        attributes[f"zero_point_{side}"] = zero_point(rng, dtype) if dtype != "int32" else 0
    return Case("add_accumulators", attributes, [*data, *factors])


def qdq_mul(rng: Rng) -> Case:
    size = shape(rng)
    other = tuple(d if rng.random() < 0.7 else 1 for d in size)
    data = [integers(rng, s, str(pick(rng, ("int8", "uint8")))) for s in (size, other)]
    attributes: dict[str, Any] = {"zero_point_a": int(rng.integers(-9, 9)), "zero_point_b": int(rng.integers(-9, 9))}
    attributes |= {"scale": float(np.float32(pick(rng, (1 / 128, 0.0071)))), "low": -133, "high": 122, "zero_point": 5}
    return Case("qdq_mul", {**attributes, "dtype": "int8"}, data if rng.random() < 0.5 else data[::-1])


def join_digits(rng: Rng) -> Case:
    rows, width = int(rng.integers(1, 9)), int(rng.integers(1, 20))
    columns, count = int(rng.integers(1, width + 1)), int(rng.integers(1, 4))
    steps = [128 * int(rng.integers(1, 13)), 128, 1][3 - count :]
    rule, tensors = requant(rng, sum(128 * s for s in steps) + 5000, columns)
    attributes = {"steps": steps, "offset": int(rng.integers(-5000, 5000)), "columns": columns, **rule.attributes()}
    return Case("join_digits", attributes, [*(integers(rng, (rows, width), "int8") for _ in steps), *tensors])


def curve_case(rng: Rng) -> Case:
    function = str(pick(rng, ("sigmoid", "tanh")))
    scale = 1 / 4096 if rng.random() < 0.3 else float(np.exp(rng.uniform(-11, -5)))
    operands = [integers(rng, shape(rng), "int16"), curve.sigmoid_points()]
    return Case("curve", {"function": function, **curve.parameters(scale)}, operands)


def _lstm(rng: Rng) -> tuple[dict[str, Any], list[np.ndarray]]:
    batch, cells, coupled = int(rng.integers(1, 4)), int(rng.integers(1, 12)), int(rng.integers(2))
    columns = (4 - coupled) * cells
    sums = [rng.integers(-(1 << 21), 1 << 21, (batch, columns)).astype(np.int32) for _ in range(2)]
    scales = [[v for _ in range(4) for v in quantize_multiplier(2.0 ** rng.uniform(-8, -4))] for _ in range(2)]
    attributes: dict[str, Any] = {"coupled": coupled, "bits": int(rng.integers(0, 7))}
    attributes |= {"input_scales": scales[0], "state_scales": scales[1]}
    return attributes, [*sums, integers(rng, (batch, cells), "int16")]


def lstm_cell(rng: Rng) -> Case:
    attributes, operands = _lstm(rng)
    return Case("lstm_cell", {**attributes, "clip": int(pick(rng, (0, 9000)))}, operands)


def lstm_hidden(rng: Rng) -> Case:
    attributes, operands = _lstm(rng)
    rule, tensors = requant(rng, 1 << 30, 1, "tflite")
    return Case("lstm_hidden", {**attributes, **rule.attributes()}, [*operands, *tensors])


CASES = {
    "lstm_cell": lstm_cell,
    "lstm_hidden": lstm_hidden,
    "curve": curve_case,
    "join_digits": join_digits,
    "qdq_mul": qdq_mul,
    "add_accumulators": add_accumulators,
    "add": add,
    "sub": binary("sub", lambda a, b: a + b),
    "mul": binary("mul", lambda a, b: a * b),
    "requantize": requantize,
    "hardswish": hardswish,
    "gelu": gelu,
    "integer_div": integer_div,
    "lookup": lookup,
    "gate": gate,
    "no_norm": no_norm,
}
