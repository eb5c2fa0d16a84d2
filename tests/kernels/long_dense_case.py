"""Calls of the kernel for sums beyond 32 bits, with the result that the dialect defines."""

import numpy as np

from schedules.packed_weights import pack_weights
from tests.kernels.call import Call, Out
from tests.kernels.matrix_cases import TYPE_CODES, Case, random_bytes
from tests.kernels.random_requant import rule_of_halves
from tvm_pulp.qnn.dense import Dense


def long_dense_case(
    rng: np.random.Generator,
    rows: int,
    columns: int,
    depth: int,
    part: int,
    dtype: str = "int16",
    result: str = "int16",
) -> Case:
    """Sums beyond 32 bits, of parts within them: weights of one sign beside inputs of one sign in some rows."""
    x = random_bytes(rng, (rows, depth), dtype)
    x[:: int(rng.integers(1, 4))] = np.iinfo(dtype).max
    weight = random_bytes(rng, (columns, depth), "int8").astype(np.int16)
    weight[:: int(rng.integers(1, 4))] = -128
    largest = int(np.abs(x.astype(np.int64)).max()) * 128
    assert largest * part < 1 << 31
    bias = rng.integers(-1000, 1000, columns).astype(np.int32)
    rule = rule_of_halves(rng, "half_up", largest * depth, columns if rng.random() < 0.7 else 1, result)
    attributes = {"zero_point": 0, "has_bias": True, **rule.requant.attributes()}
    expected = Dense().reference(Dense().stated(attributes), [x, weight, bias, *rule.operands])
    fields = {
        "x": x,
        "weight": pack_weights(weight.view(np.int8)),
        "bias": bias,
        "y": Out((rows, columns), rule.requant.out_dtype),
        "rows": rows,
        "columns": columns,
        "depth_stride": 2 * depth,
        "part": 2 * part,
        "y_stride": columns * rule.bytes,
        "x_type": TYPE_CODES[dtype],
        "requant": rule.fields,
    }
    return Case(Call("long_dense", fields), expected, rows * columns * depth)
