"""Calls of what an engine leaves to the cores in a quantize/dequantize graph's attention, with numpy's result."""

from typing import Any

import numpy as np

from tests.kernels.call import Call, Out, Scratch
from tests.kernels.matrix_cases import TYPE_CODES, Case, random_bytes
from tvm_pulp.qnn import softmax_table
from tvm_pulp.qnn.real import round_within


def qdq_weights_case(
    rng: np.random.Generator, heads: int, queries: int, keys: int, *, classes: int = 1, shifted: bool = False,
    high: int = 255, gain: float = 255.0, batch: int = 8,
) -> Case:  # fmt: skip
    """`shifted`: logits by an addition and a shift; `batch`: rows that the scratch area has room for."""
    stride, rows = -(-keys // 4) * 4, heads * queries
    x = np.full((rows, stride), 12345, np.int32)
    x[:, :keys] = rng.integers(-60_000, 60_000, (rows, keys))
    reals, add, shift = np.array([0.004, gain], np.float32), int(rng.integers(-3000, 3000)), 8 * shifted
    logits = x[:, :keys].astype(np.int64) + add >> shift
    if not shifted:
        logits = round_within(x[:, :keys].astype(np.float32) * reals[0], -256, 255)
    table = rng.integers(0, 256, (classes, 512)).astype(np.uint8)
    mask = rng.integers(0, classes, (1 if rng.integers(2) else heads, queries, stride)).astype(np.uint8)
    mask[..., keys:] = mask[..., :1]
    exponential = softmax_table.exponentials(float(rng.uniform(0.001, 0.5)), 24).astype(np.int32)
    chosen = np.broadcast_to(mask, (heads, queries, stride)).reshape(rows, stride)[:, :keys]
    u = table[chosen, np.clip(logits, -256, 255) + 256].astype(np.int64)
    e = exponential.astype(np.int64)[u.max(-1, keepdims=True) - u]
    factor = reals[1] / e.sum(-1, keepdims=True).astype(np.float32)
    expected = np.zeros((rows, stride), np.uint8)
    expected[:, :keys] = round_within(e.astype(np.float32) * factor, 0, high)
    fields: dict[str, Any] = {
        "x": x, "y": Out((rows, stride), "uint8"), "mask": mask if classes > 1 else None, "table": table,
        "exponential": np.ascontiguousarray(exponential[::-1]), "reals": reals, "scratch": Scratch(4 * batch * stride),
        "scratch_stride": 4 * batch * stride, "rows": rows, "keys": keys, "stride": stride, "queries": queries,
        "mask_head_stride": queries * stride if len(mask) > 1 else 0, "mask_stride": stride, "add": add, "shift": shift,
        "probability_high": high,
    }  # fmt: skip
    return Case(Call("qdq_weights", fields), expected, rows * keys)


def row_sums_case(rng: np.random.Generator, matrices: int, rows: int, depth: int, *, dtype: str = "int8") -> Case:
    """Rows of all matrices side by side."""
    x = random_bytes(rng, (rows, matrices, depth), dtype)
    factor, add, stride = (int(n) for n in rng.integers(-200, 200, 3))
    stride = rows + abs(stride) % 3
    expected = np.full((matrices, stride), Out((1,), "int32").empty()[0], np.int32)
    expected[:, :rows] = factor * (x.astype(np.int64).sum(-1).T + add)
    fields = {
        "x": x, "y": Out(expected.shape, "int32"), "matrices": matrices, "x_matrix_stride": depth, "rows": rows,
        "x_stride": matrices * depth, "depth": depth, "y_stride": stride, "x_type": TYPE_CODES[dtype],
        "factor": factor, "add": add,
    }  # fmt: skip
    return Case(Call("row_sums", fields), expected, matrices * rows * depth)
