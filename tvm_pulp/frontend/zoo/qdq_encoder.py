"""A transformer encoder block as QDQ ONNX: 32 tokens of 64 values, 4 heads of 16, feed-forward 128, GELU.

LayerNormalization stays a float island between quantizations, as onnxruntime's quantizer leaves it; GELU is written as
exporters decompose it.
"""

import math
from collections.abc import Sequence

import numpy as np

from tvm_pulp.frontend.zoo.qdq_builder import QdqBuilder, QdqValue
from tvm_pulp.frontend.zoo.sample_data import hidden_state
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

TOKENS, WIDTH, HEADS, FEED_FORWARD = 32, 64, 4, 128
_erf = np.vectorize(math.erf, otypes=[np.float64])


def layer_norm(builder: QdqBuilder, name: str, x: QdqValue) -> QdqValue:
    """LayerNormalization over the last axis."""
    weight = builder.random(f"{name}_weight").uniform(0.8, 1.2, WIDTH).astype(np.float32)
    bias = (0.1 * builder.random(f"{name}_bias").normal(WIDTH)).astype(np.float32)
    operands = [x.name, builder.constant(f"{name}_weight", weight), builder.constant(f"{name}_bias", bias)]
    centred = x.values - x.values.mean(axis=-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    made = builder.node("LayerNormalization", operands, f"{name}_float", axis=-1, epsilon=1e-5)
    return builder.quantized(name, QdqValue(made, normal * weight + bias))


def gelu(builder: QdqBuilder, name: str, x: QdqValue) -> QdqValue:
    """x / 2 * (1 + erf(x / sqrt(2))), node by node."""
    root, one, half = (builder.constant(f"{name}_by_{k}", np.float32(v)) for k, v in _NUMBERS.items())
    erf = builder.node("Erf", [builder.node("Div", [x.name, root], f"{name}_div")], f"{name}_erf")
    product = builder.node("Mul", [x.name, builder.node("Add", [erf, one], f"{name}_add")], f"{name}_mul")
    values = 0.5 * x.values * (1 + _erf(x.values / math.sqrt(2)))
    return builder.quantized(name, QdqValue(builder.node("Mul", [product, half], f"{name}_half"), values))


_NUMBERS = {"root": math.sqrt(2), "one": 1.0, "half": 0.5}


def attention(builder: QdqBuilder, x: QdqValue) -> QdqValue:
    query = builder.heads("q", builder.linear("q_all", x, WIDTH), HEADS, 0, 2, 1, 3)
    keys = builder.heads("k", builder.linear("k_all", x, WIDTH), HEADS, 0, 2, 3, 1)
    values = builder.heads("v", builder.linear("v_all", x, WIDTH), HEADS, 0, 2, 1, 3)
    weights = builder.softmax("weights", builder.matmul("scores", query, keys), math.sqrt(WIDTH // HEADS))
    mixed = builder.matmul("mixed", weights, values)
    turned = builder.moved("Transpose", "mixed_rows", mixed, mixed.values.transpose(0, 2, 1, 3), perm=[0, 2, 1, 3])
    rows = turned.values.reshape(-1, TOKENS, WIDTH)
    return builder.linear("attention", builder.moved("Reshape", "mixed_flat", turned, rows, TOKENS, WIDTH), WIDTH)


def define(builder: QdqBuilder, inputs: Sequence[QdqValue]) -> None:
    x = inputs[0]
    x = builder.add("residual1", x, attention(builder, layer_norm(builder, "norm1", x)))
    hidden = gelu(builder, "gelu", builder.linear("feed1", layer_norm(builder, "norm2", x), FEED_FORWARD))
    builder.output(builder.add("tokens_out", x, builder.linear("feed2", hidden, WIDTH)))


NETWORKS = (
    ZooModel(
        "qdq_encoder", ("tokens",), lambda s: [hidden_state(s, 1, TOKENS, WIDTH)], define, 34_929, 4, notation="qdq"
    ),
)
