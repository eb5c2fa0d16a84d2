"""Calls of kernels that round an engine's products, add a constant row, round again and do one thing more."""

from typing import Any

import numpy as np

from tests.kernels.call import Call, Out
from tests.kernels.matrix_cases import TYPE_CODES, Case, random_bytes


def _two_roundings(rng: np.random.Generator, rows: int, columns: int) -> tuple[dict[str, Any], np.ndarray]:
    """Fields that all these kernels have, and signed bytes of both signs, some of them clipped in either step."""
    x = rng.integers(-(1 << 28), 1 << 28, (rows, columns)).astype(np.int32)
    shift0, add0 = rng.integers(19, 22, columns), rng.integers(-(1 << 27), 1 << 27, columns)
    mul, shift = int(rng.integers(-(1 << 21), 1 << 21)), 20
    add1 = rng.integers(-(1 << 26), 1 << 26, columns)
    first = np.clip((x.astype(np.int64) + add0) >> shift0, -128, 127)
    second = np.clip((first * mul + add1) >> shift, -128, 127)
    stages = np.stack([shift0, add0, add1]).reshape(3, -1, 4).transpose(1, 0, 2).astype(np.int32)
    return {"x": x, "stages": stages, "rows": rows, "columns": columns, "mul": mul, "shift": shift}, second


def requantize_add_table_case(rng: np.random.Generator, rows: int, columns: int) -> Case:
    fields, second = _two_roundings(rng, rows, columns)
    table = random_bytes(rng, (256,), "uint8")
    fields |= {"y": Out(second.shape, "uint8"), "table": table}
    return Case(Call("requantize_add_table", fields), table[second + 128], rows * columns)


def requantize_add_sum_case(rng: np.random.Generator, rows: int, columns: int, dtype: str = "int8") -> Case:
    """Results of both signs, some of them clipped."""
    fields, second = _two_roundings(rng, rows, columns)
    b = random_bytes(rng, (rows, columns), dtype)
    (mul_a, mul_b), add = rng.integers(-(1 << 21), 1 << 21, 2).tolist(), int(rng.integers(-(1 << 26), 1 << 26))
    total = (second * mul_a + b.astype(np.int64) * mul_b + add) >> 20
    fields |= {
        "y": Out(second.shape, dtype), "b": b, "type": TYPE_CODES[dtype], "mul_a": mul_a, "mul_b": mul_b, "add": add,
        "shift_sum": 20,
    }  # fmt: skip
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return Case(Call("requantize_add_sum", fields), np.clip(total, low, high).astype(dtype), rows * columns)
