"""Attention as an exporter writes it that knows heads one by one: each has a branch of its own behind the values."""

import numpy as np

from tvm_pulp.frontend.zoo import integer_math, tensor_wise
from tvm_pulp.frontend.zoo import transformer_layers as layers
from tvm_pulp.frontend.zoo.builder import Builder, CalibratedTensor


def branched_heads(heads: int, size: int = 64, tokens: int = 64, width: int = 64, apart: bool = False) -> Builder:
    """Gather, product and RequantShift per head, and a chain of Adds; `apart`: with a rule of its own for each head."""
    builder = Builder("branches", 3)
    values = np.random.default_rng(heads).integers(-128, 128, (1, tokens, width)).astype(np.int8)
    x = builder.input("x", [values])
    q, k, v = layers.projected_heads(builder, tensor_wise.linear, "attention_", x, heads, size)
    logits = tensor_wise.rescale(builder, "logits", layers.product(builder, "logits_acc", q, k))
    weights = tensor_wise.partial_softmax(builder, "softmax", logits)
    mixed = tensor_wise.rescale(builder, "mixed", layers.product(builder, "mixed_acc", weights, v))
    total = None
    for head in range(heads):
        index = builder.constant(f"index{head}", np.array(head))
        builder.node("Gather", [mixed.name, index], f"head{head}", axis=1)
        matrix = builder.weights(f"out{head}_weight", size, width)
        builder.node("MatMul", [f"head{head}", builder.constant(f"out{head}_weight", matrix)], f"out{head}_acc")
        acc = CalibratedTensor(f"out{head}_acc", integer_math.multiply(mixed.values[:, head], matrix), 128 * 127 * size)
        made = builder.requantize(f"out{head}", acc, tensor_wise.eight_bits(0.002 + 0.001 * head * apart))
        total = made if total is None else builder.add(f"sum{head}", total, made)
    assert total is not None
    builder.output(tensor_wise.rescale(builder, "y", total))
    return builder
