"""Calls of the row-wise kernels (softmax, normalization) with the result that the dialect defines."""

from typing import Any

import numpy as np

from schedules.byte_tables import tflite_exponential_table
from schedules.cluster.rows import is_narrow_norm, real_norm
from schedules.cluster.uniform_norm import root_factors
from tests.kernels.call import Call, Out, Scratch
from tests.kernels.matrix_cases import TYPE_CODES, Case, random_bytes
from tvm_pulp.qnn.group_norm import GroupNorm
from tvm_pulp.qnn.qdq_norm import QdqNorm
from tvm_pulp.qnn.rows import LayerNorm, RmsNorm
from tvm_pulp.qnn.softmax import Softmax
from tvm_pulp.qnn.softmax_i import ISoftmaxAttributes
from tvm_pulp.qnn.softmax_i_tables import exponentials as polynomial_exponentials
from tvm_pulp.qnn.softmax_table import exponentials, fraction_bits
from tvm_pulp.qnn.softmax_tflite import TfliteSoftmaxAttributes, parameters


def random_exponential(rng: np.random.Generator, levels: int = 256, *, short: bool = False) -> dict[str, Any]:
    """Coefficients like those of the golden networks (the exponential fits 18 bits), and sometimes larger ones.

    `short`: the exponential is 0 for many distances.
    """
    if short:
        b, c = int(rng.integers(4, 20)), int(rng.integers(5, 200))
        return {"a": 1, "b": b, "c": c, "log2": int(rng.integers(2, 12)), "levels": levels}
    b = int(rng.integers(60, 400) if rng.random() < 0.8 else rng.integers(700, 900))
    log2 = int(rng.integers(5, 40))
    return {"a": 1, "b": b, "c": int(rng.integers(1000, 60000)), "log2": log2, "levels": levels}


def i_softmax_case(
    rng: np.random.Generator, rows: int, columns: int, *, dtype: str = "int8", levels: int = 256, misalign: int = 0
) -> Case:
    x = random_bytes(rng, (rows, columns), dtype)
    attributes = {"form": "i_softmax", **random_exponential(rng, levels)}
    room = 4 * columns + 16
    fields = {
        "x": x,
        "y": Out(x.shape, "uint8"),
        "table": polynomial_exponentials(ISoftmaxAttributes.from_values(attributes)).astype(np.uint32),
        "scratch": Scratch(room),
        "scratch_stride": room,
        "rows": rows,
        "columns": columns,
        "x_type": TYPE_CODES[dtype],
        "levels": levels,
    }
    return Case(
        Call("i_softmax", fields, misalign={"x": misalign}),
        Softmax().reference(Softmax().stated(attributes), [x]),
        x.size,
    )


def softmax_ita_case(rng: np.random.Generator, rows: int, columns: int, *, dtype: str = "int8", group: int = 0) -> Case:
    x = random_bytes(rng, (rows, columns), dtype)
    attributes = {"form": "ita_partial_max" if group else "ita_max", "levels": 256, "group": group}
    fields = {"x": x, "y": Out(x.shape, "uint8"), "rows": rows, "columns": columns, "x_type": TYPE_CODES[dtype]}
    fields |= {"levels": 256, "group": group}
    return Case(Call("softmax_ita", fields), Softmax().reference(Softmax().stated(attributes), [x]), x.size)


def softmax_tflite_case(rng: np.random.Generator, rows: int, columns: int) -> Case:
    x = random_bytes(rng, (rows, columns), "int8")
    attributes = {"form": "tflite", **parameters(float(rng.uniform(0.01, 0.3)), 1.0)}
    fields = {
        "x": x,
        "y": Out(x.shape, "int8"),
        "table": tflite_exponential_table(TfliteSoftmaxAttributes.from_values(attributes)),
    }
    fields |= {"rows": rows, "columns": columns}
    return Case(Call("softmax_tflite", fields), Softmax().reference(Softmax().stated(attributes), [x]), x.size)


def softmax_table_case(
    rng: np.random.Generator, rows: int, columns: int, *, dtype: str = "int8", misalign: int = 0
) -> Case:
    x, unsigned = random_bytes(rng, (rows, columns), dtype), bool(rng.integers(2))
    low, high = (0, 255) if unsigned else (-128, 127)
    zero_point = int(rng.choice([low, low, low + int(rng.integers(256))]))
    limits = {"low": low, "high": int(rng.choice([high, high, (zero_point + high) // 2])), "zero_point": zero_point}
    gain = float(np.float32(rng.choice([255.99998, 256.0, rng.uniform(20, 700)])))
    attributes = {"form": "table", "gain": gain, "dtype": "uint8" if unsigned else "int8", **limits}
    table = exponentials(float(rng.uniform(0.003, 0.3)), fraction_bits(columns) or 16)
    fields = {"x": x, "y": Out(x.shape, attributes["dtype"]), "table": table[::-1].copy()}
    fields |= {"gain": np.array([gain], np.float32), "scratch": Scratch(4 * columns + 16)}
    fields |= {"scratch_stride": 4 * columns + 16, "rows": rows, "columns": columns, "x_type": TYPE_CODES[dtype]}
    fields |= {"high": limits["high"] - zero_point, "zero_point": zero_point}
    expected = Softmax().reference(Softmax().stated(attributes), [x, table])
    return Case(Call("softmax_table", fields, misalign={"x": misalign}), expected, x.size)


def real_size(rng: np.random.Generator, attributes: dict[str, Any], weight: np.ndarray, columns: int) -> np.ndarray:
    """Weights with which results reach about 60, or 300."""
    scale = (1 << attributes["shift"]) * rng.choice([20.0, 100.0]) / np.abs(weight).max(initial=1)
    return (weight * min(1.0, scale)).astype(np.int32)


def norm_parameters(
    parameters: list[np.ndarray], attributes: dict[str, Any], columns: int, *, reals: bool
) -> dict[str, Any]:
    """Fields for weights, and biases if there are any, as integers or in single precision."""
    names = ["real_weight", "real_bias"][: len(parameters)]
    if not reals:
        integers = dict(zip(("double_weight", "bias"), (parameters[0] * np.int32(2), *parameters[1:]), strict=False))
        return {**integers, **dict.fromkeys(names), "lift": 0, "near": 0}
    found = real_norm(parameters, attributes["shift"], columns)
    assert found is not None
    fields = dict(zip(names, (found.weight, found.bias), strict=False))
    return {**fields, **dict.fromkeys(["double_weight", "bias"][: len(names)]), "lift": found.lift, "near": found.near}


def rms_norm_case(
    rng: np.random.Generator, rows: int, columns: int, *, dtype: str = "int8", levels: int = 256, wide: bool = False,
    misalign: int = 0, reals: bool = False,
) -> Case:  # fmt: skip
    x = random_bytes(rng, (rows, columns), dtype)
    if not reals or rng.random() < 0.3:
        x[rng.integers(rows)] = rng.integers(0, 3, columns)
    limit = ((1 << 30) - (256 << 20)) // 255 - 1 if not wide else 1 << 28
    weight = rng.integers(-limit, limit, columns).astype(np.int32)
    attributes = {"levels": levels, "shift": int(rng.integers(12 if reals else 10, 21))}
    if reals:
        weight = real_size(rng, attributes, weight, columns)
    fields = {
        "x": x,
        **norm_parameters([weight], attributes, columns, reals=reals),
        "y": Out(x.shape, "int8" if levels <= 256 else "int32"),
        "rows": rows,
        "columns": columns,
        "x_type": TYPE_CODES[dtype],
        "wide": int(wide),
        **attributes,
    }
    expected = RmsNorm().reference(RmsNorm().stated({**attributes, "wide": wide}), [x, weight])
    return Case(Call("rms_norm", fields, misalign={"x": misalign}), expected, x.size)


def uniform_norm_case(
    rng: np.random.Generator, rows: int, columns: int, *, dtype: str = "int8", levels: int = 256, misalign: int = 0
) -> Case:
    """Rows of all sizes; weights of either sign that reach some or all of the levels."""
    x = random_bytes(rng, (rows, columns), dtype)
    x = (x // 2.0 ** rng.integers(0, 7, (rows, 1))).astype(dtype)
    shift = int(rng.integers(10, 21))
    low, high = (-128, 127) if dtype == "int8" else (0, 255)
    found = None
    while found is None:
        weight = int(rng.choice([-1, 1]) * (1 << shift) * levels * rng.uniform(0.02, 0.5))
        found = root_factors(weight, shift, levels, columns, low, high)
    fields = {
        "x": x, "factors": found.factors, "y": Out(x.shape, "int8"), "rows": rows, "columns": columns,
        "x_type": TYPE_CODES[dtype], "levels": levels, "add": found.add, "shift": found.shift,
    }  # fmt: skip
    weights = np.full(columns, weight, np.int32)
    expected = RmsNorm().reference(RmsNorm().stated({"levels": levels, "shift": shift, "wide": True}), [x, weights])
    return Case(Call("uniform_norm", fields, misalign={"x": misalign}), expected, x.size)


def layer_norm_case(
    rng: np.random.Generator, rows: int, columns: int, *, dtype: str = "int8", levels: int = 256, wide: bool = False,
    misalign: int = 0, reals: bool = False,
) -> Case:  # fmt: skip
    x = random_bytes(rng, (rows, columns), dtype)
    if not reals or rng.random() < 0.3:
        x[rng.integers(rows)] = rng.integers(0, 3, columns)
    limit = (1 << 30) // 256 - 1 if not wide else 1 << 28
    weight = rng.integers(-limit, limit, columns).astype(np.int32)
    bias = rng.integers(-(1 << 24), 1 << 24, columns).astype(np.int32)
    attributes = {"levels": levels, "shift": int(rng.integers(12 if reals else 8, 20))}
    if reals:
        weight, bias = real_size(rng, attributes, weight, columns), bias >> 20 - attributes["shift"]
    fields = {
        "x": x,
        **norm_parameters([weight, bias], attributes, columns, reals=reals),
        "y": Out(x.shape, "int8" if levels <= 256 else "int32"),
        "rows": rows,
        "columns": columns,
        "x_type": TYPE_CODES[dtype],
        "wide": int(wide),
        **attributes,
    }
    expected = LayerNorm().reference(LayerNorm().stated({**attributes, "wide": wide}), [x, weight, bias])
    return Case(Call("layer_norm", fields, misalign={"x": misalign}), expected, x.size)


def group_norm_case(
    rng: np.random.Generator, groups: int, channels: int, pixels: int, *, dtype: str = "int8", misalign: int = 0
) -> Case:
    """Groups of `channels` planes each."""
    x, n = random_bytes(rng, (1, groups * channels, pixels), dtype), channels * pixels
    x[:, : channels * int(rng.integers(groups + 1))] //= 8
    real = {"statistic": 0.02**2 / n**2, "epsilon": 1e-5, "gain": 0.02 / n}
    attributes: dict[str, Any] = {name: float(np.float32(value)) for name, value in real.items()}
    attributes |= {"groups": groups, "low": -128, "high": int(rng.choice([127, 90])), "zero_point": 5, "dtype": "int8"}
    vectors = [rng.uniform(-60, 60, groups * channels).astype(np.float32) for _ in range(2)]
    fields = {
        "x": x, "y": Out(x.shape, "int8"), "weight": vectors[0], "bias": vectors[1], "groups": groups,
        "reals": np.array([attributes[name] for name in real], np.float32), "channels": channels, "pixels": pixels,
        "x_type": TYPE_CODES[dtype], "low": -133, "high": attributes["high"] - 5, "zero_point": 5,
    }  # fmt: skip
    expected = GroupNorm().reference(GroupNorm().stated(attributes), [x, *vectors])
    return Case(Call("group_norm", fields, misalign={"x": misalign}), expected, x.size)


def qdq_norm_case(
    rng: np.random.Generator, rows: int, columns: int, *, dtype: str = "int8", form: str = "layer", misalign: int = 0
) -> Case:
    """`form`: layer, rms (one operator each), layer_quantized, rms_quantized (written node by node), or plain."""
    x = random_bytes(rng, (rows, columns), dtype)
    x[rng.integers(rows)] = rng.integers(0, 3, columns)
    centred, quantized = form.startswith("layer"), form.endswith("quantized")
    stages = {"layer": 1, "rms": 1, "layer_quantized": 2, "rms_quantized": 1}.get(form, int(rng.integers(3)))
    biases = {"layer": [1], "layer_quantized": [0, 1], "plain": [1] * stages}.get(form, [0] * stages)
    typical = 60.0 * columns if centred else 60.0
    attributes: dict[str, Any] = {"centred": int(centred), "zero_point_x": int(rng.integers(-128, 128))}
    statistic = 1 / (typical**2 * (1 if centred else columns)) * (60 if quantized else 1)
    attributes |= {"statistic": float(np.float32(statistic)), "epsilon": float(np.float32(1e-5))}
    attributes |= {"gain": float(np.float32(60 / typical)), "has_table": int(quantized), "index_limits": [-9, 246]}
    attributes |= {"biases": biases, "zero_point": 5, "dtype": "int8"}
    attributes |= {"rounds": [int(quantized)] * stages + [1]}
    attributes |= {"low": [-120] * stages + [-133], "high": [135] * stages + [122]}
    table = (60 / typical / np.sqrt(np.arange(256) / 60 + 0.1)).astype(np.float32)
    vectors = [rng.uniform(-1.5, 1.5, (1 + bias, columns)).astype(np.float32) for bias in biases]
    operands = [x, *([table] if quantized else []), *(row for stage in vectors for row in stage)]
    names = ("statistic", "epsilon", "gain")
    narrow = stages == 1 and not quantized and is_narrow_norm(QdqNorm().stated(attributes), list(vectors[0]), columns)
    fields: dict[str, Any] = {
        "x": x, "y": Out(x.shape, "int8"), "reals": np.array([attributes[n] for n in names], np.float32),
        "table": table if quantized else None, "rows": rows, "columns": columns, "x_type": TYPE_CODES[dtype],
        "centred": int(centred), "stages": stages, "rounds": (1 << stages) - 1 if quantized else 0,
        "narrow": int(narrow),
        "zero_point_x": attributes["zero_point_x"], "index_low": -9, "index_high": 246,
        "low": -133, "high": 122, "zero_point": 5,
    }  # fmt: skip
    for i in range(2):
        rows_of = vectors[i] if i < stages else []
        fields |= {f"weight{i}": rows_of[0] if len(rows_of) else None, f"low{i}": -120, f"high{i}": 135}
        fields[f"bias{i}"] = rows_of[1] if len(rows_of) > 1 else None
    expected = QdqNorm().reference(QdqNorm().stated(attributes), operands)
    return Case(Call("qdq_norm", fields, misalign={"x": misalign}), expected, x.size)
