"""Calls of the kernel that adds the products of left-out inputs to an engine's bias."""

import numpy as np

from tests.kernels.call import Call, Out
from tests.kernels.matrix_cases import TYPE_CODES, Case, random_bytes


def bias_of_rest_case(
    rng: np.random.Generator,
    columns: int,
    depth: int,
    dtype: str = "int8",
    scale_dtype: str = "uint8",
    misalign: int = 0,
) -> Case:
    """Sums that wrap around where scales are large."""
    x, weight = random_bytes(rng, (depth,), dtype), random_bytes(rng, (columns, depth), "int8")
    scale = rng.integers(0, 256 if scale_dtype == "uint8" else 1 << 24, columns).astype(scale_dtype)
    bias = rng.integers(-(1 << 31), 1 << 31, columns).astype(np.int32)
    expected = (bias + scale.astype(np.int64) * (weight.astype(np.int64) @ x)).astype(np.int32)
    fields = {
        "x": x,
        "weight": weight.reshape(columns, -1, 4).transpose(1, 0, 2),
        "scale": scale,
        "bias": bias,
        "y": Out((columns,), "int32"),
        "columns": columns,
        "depth": depth,
        "x_type": TYPE_CODES[dtype],
        "scale_type": TYPE_CODES[scale_dtype],
    }
    return Case(Call("bias_of_rest", fields, misalign={"x": misalign}), expected, columns * depth)
