"""Random calls of the matrix products."""

import numpy as np

from tests.qnn.cases_elementwise import broadcastable, shape
from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, byte_type, integers, magnitude, pick, requant, zero_point


def wide_dense(rng: Rng) -> Case:
    """Sums of 64 bits."""
    depth, outputs = int(rng.integers(1, 40)), int(rng.integers(1, 10))
    x, weight = integers(rng, (2, depth), "int16"), integers(rng, (outputs, depth), "int16")
    zero = zero_point(rng, "int16")
    bound = int(np.abs(weight.astype(np.int64)).sum(axis=1).max()) * magnitude(x, zero) + 1
    rule, tensors = requant(rng, bound, outputs, "half_up")
    return Case(
        "dense", {"zero_point": zero, "has_bias": 0, "sum_bits": 64, **rule.attributes()}, [x, weight, *tensors]
    )


def dense(rng: Rng) -> Case:
    if rng.random() < 0.15:
        return wide_dense(rng)
    depth, outputs = int(rng.integers(1, 40)), int(rng.integers(1, 10))
    x = integers(rng, (*shape(rng, 0, 3), depth), byte_type(rng))
    weight = integers(rng, (outputs, depth), str(pick(rng, ("int8", "int8", "uint8", "int16"))))
    zero = zero_point(rng, str(x.dtype))
    bias = [rng.integers(-(1 << 20), 1 << 20, outputs).astype(np.int32)] if rng.random() < 0.5 else []
    bound = int(np.abs(weight.astype(np.int64)).sum(axis=1).max()) * magnitude(x, zero) + (1 << 20)
    rule, tensors = requant(rng, bound, outputs)
    return Case("dense", {"zero_point": zero, "has_bias": len(bias), **rule.attributes()}, [x, weight, *bias, *tensors])


def matmul(rng: Rng) -> Case:
    # A depth of zero is an empty cache: the product is all zeros.
    rows, depth, columns = int(rng.integers(1, 6)), int(rng.integers(0, 30)), int(rng.integers(1, 8))
    batch_a, batch_b = broadcastable(rng)
    transposed, wide = bool(rng.random() < 0.5), bool(rng.random() < 0.15)
    types = ("int16", "int16") if wide else (byte_type(rng), byte_type(rng))
    a = integers(rng, (*batch_a, rows, depth), types[0])
    b = integers(rng, (*batch_b, columns, depth) if transposed else (*batch_b, depth, columns), types[1])
    zeros = {"zero_point_a": zero_point(rng, str(a.dtype)), "zero_point_b": zero_point(rng, str(b.dtype))}
    bound = magnitude(a, zeros["zero_point_a"]) * magnitude(b, zeros["zero_point_b"]) * depth
    rule, tensors = requant(rng, bound, columns, "half_up" if wide else None)
    attributes = {**zeros, "transpose_b": int(transposed), **({"sum_bits": 64} if wide else {}), **rule.attributes()}
    return Case("matmul", attributes, [a, b, *tensors])


CASES = {"dense": dense, "matmul": matmul}
