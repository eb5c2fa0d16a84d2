"""Calls of the element-wise kernels with the result that the dialect defines."""

from collections.abc import Callable
from typing import Any

import numpy as np

from schedules.byte_functions import find_sum_table
from schedules.byte_tables import byte_table
from tests.kernels.call import Call, Out
from tests.kernels.matrix_cases import TYPE_CODES, Case, random_bytes
from tests.kernels.random_requant import Rule, random_rule
from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.add import LEFT_SHIFT, Add
from tvm_pulp.qnn.add_accumulators import AddAccumulators
from tvm_pulp.qnn.elementwise import Gelu, Hardswish, Mul, QdqMul, Requantize
from tvm_pulp.qnn.gate import Gate
from tvm_pulp.qnn.quantize import Dequantize, Quantize
from tvm_pulp.qnn.requant import Requant


def random_values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype == "int32":
        return rng.integers(-100000, 100000, shape).astype(np.int32)
    return random_bytes(rng, shape, dtype)


def make_rule(rng: np.random.Generator, kind: str, bound: int, columns: int, per_channel: bool) -> Rule:
    return random_rule(rng, kind, bound, columns if per_channel and columns > 1 else 1)


def shape_fields(rows: int, columns: int, rule: Rule, **operands: np.ndarray) -> dict[str, Any]:
    """Sizes, strides and types; an operand of one row is repeated."""
    fields: dict[str, Any] = {"rows": rows, "columns": columns, "y_stride": columns * rule.bytes}
    for name, value in operands.items():
        fields[name] = value
        fields[f"{name}_stride"] = 0 if value.shape[0] == 1 and rows > 1 else columns * value.itemsize
        fields[f"{name}_type"] = TYPE_CODES[str(value.dtype)]
    fields["y"] = Out((rows, columns), rule.requant.out_dtype)
    fields["requant"] = rule.fields
    return fields


def tflite_side(rng: np.random.Generator) -> tuple[int, int, int]:
    """Zero point, multiplier and exponent of one operand of TFLite's sum."""
    multiplier, exponent = fixed_point.quantize_multiplier(float(rng.uniform(0.2, 0.99)))
    return int(rng.integers(-128, 128)), multiplier, exponent


def tflite_scale(zero: int, multiplier: int, exponent: int, sign: int) -> Callable[[np.ndarray], np.ndarray]:
    """What TFLite's sum does to one operand before adding."""

    def scale(x: np.ndarray) -> np.ndarray:
        return sign * fixed_point.multiply((x - zero) << LEFT_SHIFT, np.int64(multiplier), np.int64(exponent))

    return scale


def add_case(
    rng: np.random.Generator,
    rows: int,
    columns: int,
    kind: str = "pulp",
    *,
    form: str = "inner",
    types: tuple[str, str] = ("int8", "int8"),
    broadcast: bool = False,
    per_channel: bool = False,
    misalign: int = 0,
    by_table: bool = False,
) -> Case:
    """`form`: inner (both operands requantized first), one (one of them), plain, tflite."""
    a = random_values(rng, (rows, columns), types[0])
    b = random_values(rng, (1 if broadcast else rows, columns), types[1])
    tables: dict[str, Any] = dict.fromkeys(("table_a", "table_b", "wide_table_a", "wide_table_b"))
    attributes: dict[str, Any] = {"form": "tflite" if form == "tflite" else "plain"}
    inner: list[np.ndarray] = []
    bound = 512 if by_table else 1 << 18
    one_side = "ab"[columns % 2]
    if form in ("inner", "one"):
        bound = 256
        for side, dtype in zip("ab", types, strict=True):
            if form == "one" and side != one_side:
                continue
            rule = random_rule(rng, "pulp", 256, 1)
            while rule.requant.out_dtype != "int8":
                rule = random_rule(rng, "pulp", 256, 1)
            attributes |= rule.requant.attributes(f"requant_{side}")
            inner += rule.operands
            tables[f"table_{side}"] = byte_table(rule.apply, dtype, "int8")
    elif form == "tflite":
        bound = 1 << 29
        sides = [tflite_side(rng) for _ in "ab"]
        subtract = bool(rng.integers(2))
        attributes |= {"zero_point_a": sides[0][0], "zero_point_b": sides[1][0], "subtract": subtract}
        attributes |= {"multipliers": [s[1] for s in sides], "exponents": [s[2] for s in sides]}
        for side, dtype, (zero, multiplier, exponent) in zip("ab", types, sides, strict=True):
            scale = tflite_scale(zero, multiplier, exponent, -1 if side == "b" and subtract else 1)
            tables[f"wide_table_{side}"] = byte_table(scale, dtype, "int32")
    rule = make_rule(rng, kind, bound, columns, per_channel)
    while by_table and rule.requant.out_dtype == "int32":
        rule = make_rule(rng, kind, bound, columns, per_channel)
    attributes |= rule.requant.attributes()
    expected = Add().reference(Add().stated(attributes), [a, b, *inner, *rule.operands])
    sums: dict[str, Any] = {"sum_table": None, "sum_low": 0}
    if by_table:
        found = find_sum_table([tables["table_a"], tables["table_b"]], types, rule.apply)
        assert found is not None
        tables |= dict(zip(("table_a", "table_b"), found.operands, strict=True))
        sums = {"sum_table": found.results, "sum_low": found.low}
    fields = {**shape_fields(rows, columns, rule, a=a, b=b), **tables, "mul_a": 1, "mul_b": 1, **sums}
    return Case(Call("add", fields, misalign={"a": misalign if types[0] != "int32" else 0}), expected, rows * columns)


def linear_sum_case(
    rng: np.random.Generator, rows: int, columns: int, types: tuple[str, str] = ("int8", "int8"), *, misalign: int = 0,
    limits: tuple[int, int] | None = None,
) -> Case:  # fmt: skip
    """A sum with a multiplier for each operand, shifted and clipped."""
    a, b = random_bytes(rng, (rows, columns), types[0]), random_bytes(rng, (rows, columns), types[1])
    first, second = (int(m) for m in rng.integers(-(1 << 22), 1 << 22, 2))
    unsigned, shift, one = bool(rng.integers(2)), int(rng.integers(15, 24)), np.ones(1, np.int32)
    requant = Requant("pulp", shift, 0, *(limits or ((0, 255) if unsigned else (-128, 127))), wide=False)
    rule = Rule(requant, (one, rng.integers(-(1 << 26), 1 << 26, 1).astype(np.int32)))
    total = a.astype(np.int64) * first + b.astype(np.int64) * second
    tables = dict.fromkeys(("table_a", "table_b", "wide_table_a", "wide_table_b"))
    fields = {
        **shape_fields(rows, columns, rule, a=a, b=b),
        **tables,
        "mul_a": first,
        "mul_b": second,
        "sum_table": None,
        "sum_low": 0,
    }
    return Case(Call("add", fields, misalign={"a": misalign}), rule.apply(total), rows * columns)


def lookup_pairs_case(rng: np.random.Generator, count: int, *, misalign: int = 0) -> Case:
    """A function of two bytes by a table of all pairs."""
    table = random_bytes(rng, (256, 256), "uint8")
    a, b = (random_bytes(rng, (count,), "uint8") for _ in range(2))
    fields = {"a": a, "b": b, "y": Out((count,), "uint8"), "table": table, "count": count}
    return Case(Call("lookup_pairs", fields, misalign={"a": misalign}), table[a, b], count)


def add_in_range_case(
    rng: np.random.Generator, rows: int, columns: int, types: tuple[str, str] = ("int8", "int8"), *, misalign: int = 0,
    broadcast: bool = False,
) -> Case:  # fmt: skip
    """A sum with a multiplier for each operand to part of a byte's values."""
    a, b = (
        random_bytes(rng, (rows, columns), types[0]),
        random_bytes(rng, (1 if broadcast else rows, columns), types[1]),
    )
    first, second = (int(m) for m in rng.integers(-(1 << 21), 1 << 21, 2))
    shift, add, unsigned = int(rng.integers(15, 24)), int(rng.integers(-(1 << 26), 1 << 26)), bool(rng.integers(2))
    low, high = (int(v) for v in np.sort(rng.integers(0, 256, 2)) - (0 if unsigned else 128))
    total = a.astype(np.int64) * first + b.astype(np.int64) * second + add
    expected = np.clip(total >> shift, low, high).astype("uint8" if unsigned else "int8")
    fields = {
        "a": a, "b": b, "y": Out(expected.shape, expected.dtype.name), "rows": rows, "columns": columns,
        "a_stride": columns, "b_stride": 0 if broadcast else columns, "y_stride": columns,
        "a_type": TYPE_CODES[types[0]], "b_type": TYPE_CODES[types[1]], "mul_a": first, "mul_b": second, "add": add,
        "shift": shift, "low": low, "high": high,
    }  # fmt: skip
    return Case(Call("add_in_range", fields, misalign={"a": misalign}), expected, rows * columns)


def mul_case(
    rng: np.random.Generator,
    rows: int,
    columns: int,
    kind: str = "pulp",
    *,
    types: tuple[str, str] = ("int8", "int8"),
    zero_points: tuple[int, int] = (0, 0),
    broadcast: bool = False,
    per_channel: bool = False,
    misalign: int = 0,
    rule: Rule | None = None,
) -> Case:
    a = random_bytes(rng, (rows, columns), types[0])
    b = random_bytes(rng, (1 if broadcast else rows, columns), types[1])
    rule = rule or make_rule(rng, kind, 1 << 17, columns, per_channel)
    attributes = {"zero_point_a": zero_points[0], "zero_point_b": zero_points[1]}
    expected = Mul().reference(Mul().stated({**attributes, **rule.requant.attributes()}), [a, b, *rule.operands])
    fields = {**shape_fields(rows, columns, rule, a=a, b=b), **attributes}
    return Case(Call("mul", fields, misalign={"b": misalign}), expected, rows * columns)


def quantize_case(
    rng: np.random.Generator, rows: int, columns: int, *, dtype: str = "int8", apart: bool = False, ties: bool = False,
    strange: bool = False, sure: bool = False, repeated: int = 0,
) -> Case:  # fmt: skip
    """Rows side by side, or as planes of an image whose channels come last; `ties`: values halfway between two steps.

    `strange`: what is not a number, infinite, far out of range or hardly different from zero. `sure`: nothing that is
    near the middle of two steps and has to be computed again. `repeated`: bytes of a pixel behind those of its planes.
    """
    scale = np.float32(rng.choice([1 / 128, 0.75, float(rng.uniform(0.001, 3.0))]))
    zero = int(rng.integers(*{"int8": (-128, 128), "uint8": (0, 256)}[dtype]))
    whole, reach = rng.integers(-300, 300, (rows, columns)), 0.49 if sure else 0.5
    x = ((whole + (0.5 if ties else rng.uniform(-reach, reach, (rows, columns)))) * scale).astype(np.float32)
    if strange:
        special = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40, -0.0, 1e6 * scale, -1e6 * scale], np.float32)
        x = np.where(rng.random(x.shape) < 0.2, rng.choice(special, x.shape), x)
    reals = np.array([scale, np.float32(1) / scale], np.float32)
    operands = [x, reals[:1], reals[1:], np.array([zero], dtype)]
    expected = Quantize().reference(Quantize().stated({"axis": 0, "dtype": dtype}), operands)
    if apart:
        expected = np.ascontiguousarray(np.pad(expected, ((0, repeated), (0, 0)), mode="edge").T)
    fields = {
        "x": x, "y": Out(expected.shape, dtype), "reals": reals, "rows": rows,
        "columns": columns, "y_stride": 1 if apart else columns, "y_step": rows + repeated if apart else 1,
        "y_type": TYPE_CODES[dtype], "zero_point": zero,
    }  # fmt: skip
    return Case(Call("quantize", fields), expected, rows * columns)


def dequantize_case(rng: np.random.Generator, count: int, dtype: str = "int8", *, misalign: int = 0) -> Case:
    x, scale = random_bytes(rng, (count,), dtype), np.array([rng.uniform(0.001, 3.0)], np.float32)
    zero = int(rng.integers(*{"int8": (-128, 128), "uint8": (0, 256)}[dtype]))
    fields = {
        "x": x, "y": Out((count,), "float32"), "scale": scale, "count": count, "x_type": TYPE_CODES[dtype],
        "zero_point": zero,
    }  # fmt: skip
    expected = Dequantize().reference(Dequantize().stated({"axis": 0}), [x, scale, np.array([zero], dtype)])
    return Case(Call("dequantize", fields, misalign={"x": misalign}), expected, count)


def qdq_mul_case(
    rng: np.random.Generator, rows: int, columns: int, *, types: tuple[str, str] = ("int8", "int8"),
    broadcast: bool = False, misalign: int = 0,
) -> Case:  # fmt: skip
    a = random_bytes(rng, (rows, columns), types[0])
    b = random_bytes(rng, (1 if broadcast else rows, columns), types[1])
    limits = {"low": -133, "high": 122, "zero_point": 5}
    zero_points = {"zero_point_a": int(rng.integers(-128, 256)), "zero_point_b": int(rng.integers(-128, 256))}
    # Powers of two make ties.
    scale = np.float32(rng.choice([1 / 128, 1 / 256, float(rng.uniform(0.001, 0.02))]))
    expected = QdqMul().reference(
        QdqMul().stated({**limits, **zero_points, "scale": float(scale), "dtype": "int8"}), [a, b]
    )
    fields = {
        "a": a, "b": b, "y": Out(a.shape, "int8"), "scale": np.array([scale]), "rows": rows, "columns": columns,
        "b_stride": 0 if broadcast else columns, "a_type": TYPE_CODES[types[0]], "b_type": TYPE_CODES[types[1]],
        **limits, **zero_points,
    }  # fmt: skip
    return Case(Call("qdq_mul", fields, misalign={"b": misalign}), expected, rows * columns)


def requantize_case(
    rng: np.random.Generator,
    rows: int,
    columns: int,
    kind: str = "pulp",
    *,
    dtype: str = "int8",
    zero_point: int = 0,
    axis: int = 1,
    per_channel: bool = False,
    misalign: int = 0,
) -> Case:
    x = random_values(rng, (rows, columns), dtype)
    channels = (rows, columns)[axis]
    rule = make_rule(rng, kind, 100300 if dtype == "int32" else 512, channels, per_channel)
    attributes = {"zero_point": zero_point, "axis": axis, **rule.requant.attributes()}
    expected = Requantize().reference(Requantize().stated(attributes), [x, *rule.operands])
    fields = {**shape_fields(rows, columns, rule, x=x), "zero_point": zero_point, "per_row": int(axis == 0)}
    fields |= {"lines": 1, "x_line_stride": 0}
    moved = misalign if dtype != "int32" else 0
    return Case(Call("requantize", fields, misalign={"x": moved}), expected, rows * columns)


def thinned_case(rng: np.random.Generator, size: tuple[int, int, int], steps: tuple[int, int], kind: str) -> Case:
    """Every so many lines and pixels of a picture that an engine computed whole."""
    _, width, channels = size
    x = random_values(rng, size, "int32")
    rule = make_rule(rng, kind, 100300, channels, True)
    while rule.requant.out_dtype == "int32":
        rule = make_rule(rng, kind, 100300, channels, True)
    taken = x[:: steps[0], :: steps[1]]
    attributes = {"zero_point": 0, "axis": 2, **rule.requant.attributes()}
    expected = Requantize().reference(Requantize().stated(attributes), [taken, *rule.operands])
    fields = {**shape_fields(taken.shape[1], channels, rule, x=x), "zero_point": 0, "per_row": 0}
    fields |= {"lines": taken.shape[0], "x_line_stride": 4 * steps[0] * width * channels}
    fields |= {"x_stride": 4 * steps[1] * channels, "y": Out(expected.shape, rule.requant.out_dtype)}
    return Case(Call("requantize", fields), expected, expected.size)


def hardswish_case(
    rng: np.random.Generator, rows: int, columns: int, kind: str = "pulp", *, dtype: str = "int8",
    per_channel: bool = False, misalign: int = 0,
) -> Case:  # fmt: skip
    x = random_bytes(rng, (rows, columns), dtype)
    attributes = {"three": int(rng.integers(1, 90)), "six": int(rng.integers(1, 180)), "one_over_six": 11}
    rule = make_rule(rng, kind, 255 * 180 * 11, columns, per_channel)
    expected = Hardswish().reference(
        Hardswish().stated({**attributes, **rule.requant.attributes()}), [x, *rule.operands]
    )
    fields = {**shape_fields(rows, columns, rule, x=x), **attributes}
    return Case(Call("hardswish", fields, misalign={"x": misalign}), expected, rows * columns)


def gelu_case(
    rng: np.random.Generator, rows: int, columns: int, kind: str = "pulp", *, dtype: str = "int8",
    per_channel: bool = False, misalign: int = 0,
) -> Case:  # fmt: skip
    x = random_bytes(rng, (rows, columns), dtype)
    b = -int(rng.integers(20, 120))
    attributes = {"b": b, "one": b * b + int(rng.integers(0, 3000))}
    rule = make_rule(rng, kind, 255 * attributes["one"], columns, per_channel)
    expected = Gelu().reference(Gelu().stated({**attributes, **rule.requant.attributes()}), [x, *rule.operands])
    fields = {**shape_fields(rows, columns, rule, x=x), **attributes}
    return Case(Call("gelu", fields, misalign={"x": misalign}), expected, rows * columns)


def requantize_add_case(rng: np.random.Generator, rows: int, columns: int, dtype: str = "int8") -> Case:
    """Results of both signs, some of them clipped in either step."""
    x = rng.integers(-(1 << 28), 1 << 28, (rows, columns)).astype(np.int32)
    shift0 = rng.integers(19, 22, columns)
    add0 = rng.integers(-(1 << 27), 1 << 27, columns)
    mul, shift = int(rng.integers(-(1 << 21), 1 << 21)), 20
    add1 = rng.integers(-(1 << 26), 1 << 26, columns)
    first = np.clip((x.astype(np.int64) + add0) >> shift0, -128, 127)
    second = np.clip((first * mul + add1) >> shift, -128, 127)
    stages = np.stack([shift0, add0, add1]).reshape(3, -1, 4).transpose(1, 0, 2).astype(np.int32)
    fields = {
        "x": x, "y": Out(x.shape, dtype), "stages": stages, "rows": rows, "columns": columns,
        "y_type": TYPE_CODES[dtype], "mul": mul, "shift": shift,
    }  # fmt: skip
    expected = (second + (128 if dtype == "uint8" else 0)).astype(dtype)
    return Case(Call("requantize_add", fields), expected, rows * columns)


def requantize_table_case(rng: np.random.Generator, rows: int, columns: int, *, alike: bool) -> Case:
    """`alike`: one table for all columns; some results of the rounding are clipped."""
    x = rng.integers(-(1 << 28), 1 << 28, (rows, columns)).astype(np.int32)
    shift, add = rng.integers(20, 22, columns), rng.integers(-(1 << 26), 1 << 28, columns)
    table = random_bytes(rng, (256,) if alike else (columns, 256), "uint8")
    place = np.clip((x.astype(np.int64) + add) >> shift, 0, 255)
    expected = np.take_along_axis(np.broadcast_to(table, (columns, 256)), place.T, 1).T
    stages = np.stack([shift, add]).reshape(2, -1, 4).transpose(1, 0, 2).astype(np.int32)
    fields = {
        "x": x, "y": Out(x.shape, "uint8"), "stages": stages, "table": table, "table_stride": 0 if alike else 256,
        "rows": rows, "columns": columns,
    }  # fmt: skip
    return Case(Call("requantize_table", fields), np.ascontiguousarray(expected), rows * columns)


def requantize_sum_case(rng: np.random.Generator, rows: int, columns: int, b_dtype: str, dtype: str) -> Case:
    """Results of both signs, some of them clipped in either step."""
    x = rng.integers(-(1 << 28), 1 << 28, (rows, columns)).astype(np.int32)
    b = random_bytes(rng, (rows, columns), b_dtype)
    shift0, add0 = rng.integers(19, 22, columns), rng.integers(-(1 << 27), 1 << 27, columns)
    (mul, mul_b), shift = rng.integers(-(1 << 21), 1 << 21, 2).tolist(), 20
    add = int(rng.integers(-(1 << 26), 1 << 26))
    first = np.clip((x.astype(np.int64) + add0) >> shift0, -128, 127)
    second = np.clip((first * mul + b.astype(np.int64) * mul_b + add) >> shift, -128, 127)
    stages = np.stack([shift0, add0]).reshape(2, -1, 4).transpose(1, 0, 2).astype(np.int32)
    fields = {
        "x": x, "y": Out(x.shape, dtype), "b": b, "stages": stages, "rows": rows, "columns": columns,
        "b_type": TYPE_CODES[b_dtype], "y_type": TYPE_CODES[dtype], "mul": mul, "mul_b": mul_b,
        "add": add, "shift": shift,
    }  # fmt: skip
    expected = (second + (128 if dtype == "uint8" else 0)).astype(dtype)
    return Case(Call("requantize_sum", fields), expected, rows * columns)


def lookup_case(rng: np.random.Generator, count: int, *, misalign: int = 0) -> Case:
    x, table = random_bytes(rng, (count,), "uint8"), random_bytes(rng, (256,), "uint8")
    fields = {"x": x, "y": Out((count,), "uint8"), "table": table, "count": count}
    return Case(Call("lookup", fields, misalign={"x": misalign, "table": misalign}), table[x], count)


def gate_case(rng: np.random.Generator, count: int, *, dtype: str = "int8", rounded: bool, misalign: int = 0) -> Case:
    """`rounded`: by 2^16, half up."""
    a, b = random_bytes(rng, (1, count), dtype), random_bytes(rng, (1, count), "int8")
    table = random_bytes(rng, (256,), "int8")
    rule = make_rule(rng, "pulp", 1 << 14, count, per_channel=False)
    while rule.requant.out_dtype == "int32" or rule.requant.wide or rule.requant.low not in (0, ~rule.requant.high):
        rule = make_rule(rng, "pulp", 1 << 14, count, per_channel=False)
    if rounded:
        scale, half = (np.array([v], np.int32) for v in (rng.integers(-(1 << 15), 1 << 15), 1 << 15))
        rule = Rule(Requant("pulp", 16, 0, -128, 127, wide=False), (scale, half))
    expected = Gate().reference(Gate().stated(rule.requant.attributes()), [a, b, table, *rule.operands])
    # Entries in the order of what is stored.
    entries = table if dtype == "uint8" else np.roll(table, 128)
    shared = shape_fields(1, count, rule, a=a, b=b)
    fields = {n: shared[n] for n in ("a", "b", "y", "requant")} | {"table": entries, "count": count}
    return Case(Call("gate", fields, misalign={"a": misalign, "table": misalign}), expected, count)


def add_accumulators_case(
    rng: np.random.Generator, rows: int, columns: int, dtype: str, *, misalign: int = 0, out: str = "int8"
) -> Case:
    """Accumulators of a layer plus bytes, or plus those of another layer."""
    a, b = (random_values(rng, (rows, columns), t) for t in ("int32", dtype))
    fraction = int(rng.integers(10, 21))
    largest = 1 << 28
    muls, lefts = [], []
    for x in (a, b):
        if x.dtype == np.int32:
            lefts.append(int(rng.integers(8, 15)))
            muls.append(rng.integers(0, (largest << 32) // (100000 << lefts[-1]), columns).astype(np.int32))
        else:
            lefts.append(0)
            muls.append(rng.integers(0, largest // 256, 1).astype(np.int32))
    limits = np.iinfo(out)
    low, high = int(limits.min) + int(rng.integers(30)), int(limits.max) - int(rng.integers(30))
    rule = Requant("half_up", 0, int(rng.integers(low, high)), low, high, dtype=out)
    zero_point = int(rng.integers(-128, 128)) if dtype == "int8" else int(rng.integers(256)) if dtype == "uint8" else 0
    attributes = {
        **rule.attributes(), "axis": -1, "fraction": fraction, "left_a": lefts[0], "left_b": lefts[1],
        "zero_point_a": 0, "zero_point_b": zero_point,
    }  # fmt: skip
    expected = AddAccumulators().reference(AddAccumulators().stated(attributes), [a, b, *muls])
    fields = {
        "a": a, "b": b, "y": Out(expected.shape, out), "mul_a": muls[0], "mul_b": muls[1], "rows": rows,
        "columns": columns, "a_type": TYPE_CODES["int32"], "b_type": TYPE_CODES[dtype], "left_a": lefts[0],
        "left_b": lefts[1], "zero_point_a": 0, "zero_point_b": zero_point, "fraction": fraction,
        "zero_point": rule.zero_point, "low": low, "high": high,
    }  # fmt: skip
    call = Call("add_accumulators", fields, misalign={"b": misalign} if dtype != "int32" else {})
    return Case(call, expected, expected.size)
