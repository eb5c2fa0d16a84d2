"""The integer dialect: one file per operator.

Every operator states its type rule, a numpy reference, its lowering to TIR and its work (MACs).
Frontends and canonicalization produce these operators, engines and code generation consume them.
"""

from __future__ import annotations

from tvm_pulp.qnn import (  # noqa: F401  (importing an operator's file registers it)
    add,
    add_accumulators,
    append_quantized,
    attention,
    avg_pool,
    concat,
    conv2d,
    curve,
    dense,
    dequantize,
    dilate,
    float_conv2d,
    float_map,
    float_matmul,
    float_norm,
    float_pool,
    float_reduce,
    float_softmax,
    gather,
    gelu,
    group_norm,
    hardswish,
    im2col,
    integer_div,
    join_digits,
    layer_norm,
    lookup,
    lstm_cell,
    matmul,
    max_pool,
    mul,
    no_norm,
    pad,
    past_attention,
    past_mean,
    past_mix,
    past_qdq_attention,
    past_scores,
    qdq_attention,
    qdq_mul,
    qdq_norm,
    qdq_rope,
    quantize,
    quantize_channels_last,
    reduce,
    requantize,
    resize,
    rms_norm,
    rotary,
    slice,
    softmax,
    space_to_depth,
    sub,
    take,
    transpose,
)
from tvm_pulp.qnn.operator import OPERATORS, Operator, attributes, emit, is_qnn, name_of
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec

__all__ = ["OPERATORS", "Operator", "Requant", "TensorSpec", "attributes", "emit", "is_qnn", "name_of"]
