"""A small decoder like Micro-Llama: one decode step with a KV cache, two layers.

Hidden size 64, 16 heads of 4, feed-forward 256, rotary positions as a matrix product. Inputs: hidden state, additive
mask (0 visible, -128 hidden), rotation matrix, then past K and V of each layer. Outputs: hidden state, then K and V of
each layer with the new token appended.
"""

import math
from collections.abc import Sequence

import numpy as np

from tvm_pulp.frontend.zoo import transformer_layers as layers
from tvm_pulp.frontend.zoo.builder import Builder, CalibratedTensor
from tvm_pulp.frontend.zoo.random_stream import RandomStream
from tvm_pulp.frontend.zoo.sample_data import hidden_state
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

LAYERS, HIDDEN, HEADS, HEAD, FEED_FORWARD = 2, 64, 16, 4, 256
CACHED = 32
# The oldest entries of the cache are hidden, so that a program which ignores the mask is found out.
MASKED = 5
# -128 becomes the lowest logit whatever the logits are.
MASK_MULTIPLIER = 4_000_000


def rotation(position: int) -> np.ndarray:
    """Rotation matrix of one position, times 127, truncated."""
    (c0, s0), (c1, s1) = ((math.cos(a), math.sin(a)) for a in (position, position / 100))
    matrix = [[c0, 0, s0, 0], [0, c1, 0, s1], [-s0, 0, c0, 0], [0, -s1, 0, c1]]
    return np.trunc(np.array(matrix) * 127).astype(np.int8).reshape(1, 1, HEAD, HEAD)


def sample(stream: RandomStream) -> list[np.ndarray]:
    """A decode step at position `CACHED`."""
    mask = np.zeros(CACHED + 1, np.int8)
    mask[:MASKED] = -128
    past = [hidden_state(stream, 1, HEADS, CACHED, HEAD) for _ in range(2 * LAYERS)]
    return [hidden_state(stream, 1, 1, HIDDEN), mask, rotation(CACHED), *past]


def heads(builder: Builder, name: str, x: CalibratedTensor) -> CalibratedTensor:
    """[1, 1, 64] as [1, 1, 16, 4]."""
    return builder.reshape(name, x, 1, 1, HEADS, HEAD)


def attention(
    builder: Builder, layer: str, x: CalibratedTensor, inputs: Sequence[CalibratedTensor]
) -> tuple[CalibratedTensor, tuple[CalibratedTensor, CalibratedTensor]]:
    """Attention over the cache and the new token; returns its result and the cache with the token appended."""
    mask, rotate, past_k, past_v = inputs

    def project(name: str) -> CalibratedTensor:
        acc = layers.projection(builder, f"{layer}_{name}", x, HIDDEN)
        return heads(builder, f"{layer}_{name}_heads", builder.rescale(f"{layer}_{name}", acc))

    def rotated(name: str) -> CalibratedTensor:
        acc = layers.product(builder, f"{layer}_{name}_turned", project(name), rotate)
        return builder.rescale(f"{layer}_{name}_rope", acc)

    def append(name: str, past: CalibratedTensor, new: CalibratedTensor) -> CalibratedTensor:
        turned = builder.transpose(f"{layer}_{name}_new", new, 0, 2, 1, 3)
        joined = layers.concat(builder, f"{layer}_{name}_joined", past, turned, axis=-2)
        # The identity after the Concat is what attention reads and what the step returns.
        return layers.times(builder, f"{layer}_present_{name}", joined)

    query = builder.transpose(f"{layer}_q_first", rotated("q"), 0, 2, 1, 3)
    keys = append("k", past_k, rotated("k"))
    values = append("v", past_v, project("v"))
    turned = builder.transpose(f"{layer}_keys", keys, 0, 1, 3, 2)
    scores = builder.rescale(f"{layer}_scores", layers.product(builder, f"{layer}_scores_acc", query, turned))
    halved = layers.halve(builder, f"{layer}_halved", scores)
    hidden = layers.times(builder, f"{layer}_mask", mask, MASK_MULTIPLIER)
    logits = layers.times(builder, f"{layer}_logits", builder.add(f"{layer}_masked", halved, hidden))
    weights = builder.rescale(f"{layer}_weights", layers.softmax(builder, f"{layer}_softmax", logits))
    mixed = builder.rescale(f"{layer}_mixed", layers.product(builder, f"{layer}_mixed_acc", weights, values))
    joined = builder.transpose(f"{layer}_mixed_heads", mixed, 0, 2, 1, 3)
    joined = builder.reshape(f"{layer}_mixed_row", joined, 1, 1, HIDDEN)
    result = builder.rescale(f"{layer}_o", layers.projection(builder, f"{layer}_o", joined, HIDDEN))
    return result, (keys, values)


def feed_forward(builder: Builder, layer: str, x: CalibratedTensor) -> CalibratedTensor:
    """Gated feed-forward."""
    gate = builder.rescale(f"{layer}_gate", layers.projection(builder, f"{layer}_gate", x, FEED_FORWARD))
    gate = layers.hardswish(builder, f"{layer}_swish", gate)
    up = builder.rescale(f"{layer}_up", layers.projection(builder, f"{layer}_up", x, FEED_FORWARD))
    both = builder.rescale(f"{layer}_gated", layers.elementwise_product(builder, f"{layer}_gated_acc", gate, up))
    return builder.rescale(f"{layer}_down", layers.projection(builder, f"{layer}_down", both, HIDDEN))


def define(builder: Builder, inputs: Sequence[CalibratedTensor]) -> None:
    x, mask, rotate, *past = inputs
    presents: list[CalibratedTensor] = []
    for index in range(LAYERS):
        layer = f"layer{index}"
        norm = layers.rms_norm(builder, f"{layer}_norm1", x)
        mixed, cache = attention(builder, layer, norm, (mask, rotate, past[2 * index], past[2 * index + 1]))
        presents += cache
        x = builder.residual(f"{layer}_add1", x, mixed)
        norm = layers.rms_norm(builder, f"{layer}_norm2", x)
        x = builder.residual(f"{layer}_add2", x, feed_forward(builder, layer, norm))
    for tensor in (layers.rms_norm(builder, "hidden_out", x), *presents):
        builder.output(tensor)


PAST = tuple(f"past_{kind}_{layer}" for layer in range(LAYERS) for kind in "kv")
NETWORKS = (
    ZooModel("tinyllama", ("hidden", "mask", "rotation", *PAST), sample, define, 133_186, shared=("mask", "rotation")),
)
