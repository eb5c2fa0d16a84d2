"""Sums of two tensors of bytes as calls of a CPU's kernels: a summand of each value, and one fitted rule.

A summand is the value times a factor, where factors of 16 bits exist that give the network's result of every pair of
values; else it is looked up in a table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from schedules.cpu.base import RANGES, SATURATIONS, CallBuilder, Cpu, KernelCall, Layer, Tensor, kernel, offer_if
from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.add import AddAttributes, rules, split
from tvm_pulp.qnn.fit_rule import FittedRule, Sums, fit_rule
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec

# Of a sum: a result's fraction of 16 bits and some more.
_SUM_BITS = 27
_LARGEST_FACTOR = (1 << 15) - 1
# Sums whose constants are remembered.
_REMEMBERED = 256


@kernel("add", "sum by factors")
def add_products(layer: Layer, cpu: Cpu) -> KernelCall:
    """A summand is a value times a factor."""
    made = _by_factors(_checked(layer), cpu.doubled)
    offer_if(made is not None, "no factors of 16 bits give the network's results of all pairs of values")
    assert made is not None
    fitted, factors = made
    linear = np.array(factors, np.int64)
    return _call(layer, fitted, "factors", "tvm_pulp_add_products", _signs_of(*layer.inputs[:2]), linear=linear)


@kernel("add", "sum by tables")
def add_summands(layer: Layer, cpu: Cpu) -> KernelCall:
    """A summand is looked up."""
    made = _by_tables(_checked(layer), cpu.doubled)
    offer_if(made is not None, "no constants give the network's results of all pairs of values")
    assert made is not None
    fitted, tables = made
    return _call(layer, fitted, "tables", "tvm_pulp_add", "tables", tables=np.concatenate(tables))


@dataclass(frozen=True)
class _Sum:
    """All that constants of a sum depend on: parts of a layer, or layers alike, have the same.

    `constants`: the layer's numbers with their types.
    """

    stated: AddAttributes
    dtypes: tuple[str, str]
    constants: tuple[tuple[str, float], ...]

    @property
    def numbers(self) -> list[np.ndarray]:
        """Constants as arrays of one element."""
        return [np.array([value], dtype) for dtype, value in self.constants]


def _sum_of(layer: Layer) -> _Sum:
    constants = tuple((t.spec.dtype, value.item()) for t in layer.inputs[2:] for value in t.values.reshape(-1))
    a, b = (t.spec.dtype for t in layer.inputs[:2])
    return _Sum(AddAttributes.of(layer), (a, b), constants)


def _checked(layer: Layer) -> _Sum:
    """A sum of bytes whose operands fit each other."""
    a, b, y = layer.inputs[0], layer.inputs[1], layer.outputs[0]
    for name, tensor in (("a summand", a), ("a summand", b), ("the result", y)):
        offer_if(tensor.spec.dtype in RANGES, f"{name} is {tensor.spec.dtype}, not bytes")
    offer_if(
        all(_is_row(t.spec, y.spec) for t in (a, b)), "a summand is neither as large as the result nor a row of it"
    )
    offer_if(all(t.spec.elements <= 1 for t in layer.inputs[2:]), "channels have scales of their own")
    found = _sum_of(layer)
    requant, _ = _rule_of_sum(found)
    offer_if((requant.low, requant.high) in SATURATIONS, f"results are clipped to {requant.low} to {requant.high}")
    offer_if(requant.operands, "sums are results: nothing requantizes them")
    return found


_NONE = np.zeros(0, np.int64)


def _call(
    layer: Layer,
    fitted: FittedRule,
    by: str,
    function: str,
    summands: str,
    *,
    tables: np.ndarray = _NONE,
    linear: np.ndarray = _NONE,
) -> KernelCall:
    """The call of a kernel that adds rows; `summands`: its argument for them."""
    a, b, y = layer.inputs[0], layer.inputs[1], layer.outputs[0]
    count = min(t.spec.elements for t in (a, b))
    requant = _rule_of_sum(_sum_of(layer))[0]
    less = np.zeros(1, np.int64) if fitted.less is None else fitted.less
    call = CallBuilder(layer, [a, b])
    if tables.size:
        call.constant("tables", tables.astype(np.int32))
    scale = [fitted.shift, fitted.multiply, fitted.add, less, linear]
    call.constant("scale", np.concatenate(scale).astype(np.int32))
    suffix = SATURATIONS[requant.low, requant.high] + ("" if fitted.less is None else "_away")
    pointers = [
        name if t.spec.dtype == "uint8" else f"(const uint8_t *){name}" for name, t in zip("ab", (a, b), strict=True)
    ]
    call.result()
    end = f"{count}, {summands}, scale, TVM_PULP_{suffix.upper()});"
    if count == y.spec.elements:
        body = [f"  {function}({', '.join(pointers)}, {call.y}, {end}"]
    else:
        moved = [f"{p} + i" if t.spec.elements > count else p for p, t in zip(pointers, (a, b), strict=True)]
        body = [
            f"  for (int32_t i = 0; i < {y.spec.elements}; i += {count})",
            f"    {function}({', '.join(moved)}, {call.y} + i, {end}",
        ]
    whole = [i for i, t in enumerate((a, b)) if t.spec.elements == y.spec.elements]
    return call.made([f"  /* Summands by {by}. */", *body], "add.h", overwrites=whole)


def _signs_of(a: Tensor, b: Tensor) -> str:
    """Types of both operands, as kernels take them."""
    return ", ".join(str(int(t.spec.dtype == "uint8")) for t in (a, b))


@lru_cache(maxsize=_REMEMBERED)
def _by_tables(summed: _Sum, doubled: bool) -> tuple[FittedRule, list[np.ndarray]] | None:
    """The rule and tables of both operands."""
    requant, operands = _rule_of_sum(summed)
    tables, sums = _sums(requant, operands, _tables(summed))
    fitted = None if sums is None else fit_rule(sums, (requant.low, requant.high), doubled=doubled)
    # What a sum begins with is part of a table.
    return None if fitted is None else (fitted, [tables[0] + fitted.start[0], tables[1]])


@lru_cache(maxsize=_REMEMBERED)
def _by_factors(summed: _Sum, doubled: bool) -> tuple[FittedRule, list[int]] | None:
    """Products with factors whose ratio is that of the operands' scales, as near as 16 bits allow.

    The factors are those of both operands, and what sums begin with.
    """
    requant, operands = _rule_of_sum(summed)
    tables, stated = _tables(summed), summed.stated
    zeros = [stated.zero_point_a, stated.zero_point_b]
    values = [np.arange(256, dtype=np.uint8).view(dtype).astype(np.int64) for dtype in summed.dtypes]
    slopes = [Fraction(int(t[v.argmax()] - t[v.argmin()]), 255) for t, v in zip(tables, values, strict=True)]
    if not slopes[0] or not slopes[1]:
        return None
    exact = (tables[0][:, None] + tables[1][None, :]).reshape(-1)
    results = requant.apply(exact[None], operands, axis=0).astype(np.int64)[0]
    # One real factor of all sums, whatever they are in units of.
    scale = float(Sums(requant, operands, np.zeros(1, np.int64), exact[:1], exact[:1]).scales()[0])
    # Results are known, so only the way of rounding below zero and that factor count.
    rounded, ones = (requant, 2.0**31) if requant.kind == "tflite" else (replace(requant, kind="half_even"), 1.0)
    for first, second in _ratios(slopes[0] / slopes[1]):
        products = [(v - z) * f for v, z, f in zip(values, zeros, (first, second), strict=True)]
        sums = (products[0][:, None] + products[1][None, :]).reshape(-1)
        unit = scale * float(slopes[0] / first)
        found = _known(rounded, (np.array([unit * ones]), np.zeros(1)), sums, results) if unit > 0 else None
        fitted = None if found is None else fit_rule(found, (requant.low, requant.high), doubled=doubled)
        if fitted is not None:
            return fitted, [first, second, int(fitted.start[0]) - zeros[0] * first - zeros[1] * second]
    return None


def _ratios(wanted: Fraction) -> Iterator[tuple[int, int]]:
    """Pairs of factors whose ratio is near, the nearest first."""
    sign, size = (1 if wanted > 0 else -1), abs(wanted)
    bits = _LARGEST_FACTOR
    while bits > 127:
        # The larger of both factors has to fit.
        limit = bits if size <= 1 else int(bits / size)
        near = size.limit_denominator(max(1, limit))
        if 0 < near.numerator <= _LARGEST_FACTOR:
            # Small ones are as exact with more bits, and sums differ more.
            times = _LARGEST_FACTOR // max(near.numerator, near.denominator)
            yield near.numerator * times, sign * near.denominator * times
        bits //= 2


def _known(
    requant: Requant, operands: tuple[np.ndarray, np.ndarray], sums: np.ndarray, results: np.ndarray
) -> Sums | None:
    """Sums that can occur with their results; None where sums that round apart are the same."""
    order = np.argsort(sums, kind="stable")
    reachable, first = np.unique(sums[order], return_index=True)
    known = np.minimum.reduceat(results[order], first)
    if (known != np.maximum.reduceat(results[order], first)).any() or (np.diff(known) < 0).any():
        return None
    return Sums(requant, operands, np.zeros(1, np.int64), reachable[:1], reachable[-1:], reachable, known)


def _is_row(spec: TensorSpec, whole: TensorSpec) -> bool:
    """Tell if a tensor is as large as another, or one that every row of it is added to."""
    shape = spec.shape
    while shape and shape[0] == 1:
        shape = shape[1:]
    return spec.elements == whole.elements or (len(shape) > 0 and shape == whole.shape[-len(shape) :])


def _rule_of_sum(summed: _Sum) -> tuple[Requant, tuple[np.ndarray, np.ndarray]]:
    attributes = summed.stated
    rule = rules(attributes)[2]
    if attributes.form == "half_even":
        requant = Requant("half_even", 0, rule.zero_point, rule.low, rule.high, True, rule.dtype)
        return requant, (np.array([1]), np.array([attributes.shift]))
    tensors = split(attributes, summed.numbers)[2]
    first, second = (np.asarray(t, np.int64).reshape(-1) for t in tensors) if tensors else (np.zeros(1), np.zeros(1))
    return rule, (first, second)


def _sums(
    requant: Requant, operands: tuple[np.ndarray, np.ndarray], tables: list[np.ndarray]
) -> tuple[list[np.ndarray], Sums | None]:
    """Summands with as many bits as fit, and their sums; None where exact sums that round apart become the same."""
    exact = (tables[0][:, None] + tables[1][None, :]).reshape(-1)
    excess = int(np.abs(exact).max()).bit_length() - _SUM_BITS if requant.kind == "half_even" else 0
    if excess <= 0:
        reachable = np.unique(exact)
        return tables, Sums(requant, operands, np.zeros(1, np.int64), reachable[:1], reachable[-1:], reachable)
    tables = [(table + (1 << excess >> 1)) >> excess for table in tables]
    sums = (tables[0][:, None] + tables[1][None, :]).reshape(-1)
    results = requant.apply(exact[None], operands, axis=0).astype(np.int64)[0]
    return tables, _known(requant, (operands[0], operands[1] - excess), sums, results)


def _tables(summed: _Sum) -> list[np.ndarray]:
    """Summands of all values of both operands, by their bits."""
    attributes, made = summed.stated, []
    handed = split(attributes, summed.numbers)
    for place, dtype in enumerate(summed.dtypes):
        values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.int64)
        if attributes.form == "plain":
            summand = rules(attributes)[place].apply(values, handed[place]).astype(np.int64)
        else:
            centred = values - (attributes.zero_point_b if place else attributes.zero_point_a)
            factor = np.array(attributes.multipliers[place])
            if attributes.form == "half_even":
                summand = centred * factor
            else:
                exponent = np.array(attributes.exponents[place])
                summand = fixed_point.multiply(centred << attributes.left_shift, factor, exponent)
                summand = -summand if place and attributes.subtract else summand
        made.append(summand)
    return made
