"""A tiny Llama block as QDQ ONNX: one decode step with cache inputs.

Hidden size 64, 4 heads of 16, gated feed-forward 128, rotary positions, RMS normalization written node by node. Inputs:
hidden state, past keys and values. Outputs: hidden state, then keys and values with the new token appended.
"""

import math
from collections.abc import Sequence

import numpy as np

from tvm_pulp.frontend.zoo.qdq_builder import QdqBuilder, QdqValue
from tvm_pulp.frontend.zoo.random_stream import RandomStream
from tvm_pulp.frontend.zoo.sample_data import hidden_state
from tvm_pulp.frontend.zoo.zoo_model import ZooModel

HIDDEN, HEADS, HEAD, FEED_FORWARD, CACHED = 64, 4, 16, 128, 16


def rms_norm(builder: QdqBuilder, name: str, x: QdqValue) -> QdqValue:
    """x / sqrt(mean(x^2) + eps) * weight, as exporters decompose it."""
    weight = builder.random(f"{name}_weight").uniform(0.8, 1.2, HIDDEN).astype(np.float32)
    square = builder.node("Mul", [x.name, x.name], f"{name}_square")
    mean = builder.node("ReduceMean", [square], f"{name}_mean", axes=[-1], keepdims=1)
    shifted = builder.node("Add", [mean, builder.constant(f"{name}_eps", np.float32(1e-5))], f"{name}_shifted")
    normal = builder.node("Div", [x.name, builder.node("Sqrt", [shifted], f"{name}_root")], f"{name}_normal")
    made = builder.node("Mul", [normal, builder.constant(f"{name}_weight", weight)], f"{name}_float")
    values = x.values / np.sqrt((x.values**2).mean(axis=-1, keepdims=True) + 1e-5) * weight
    return builder.quantized(name, QdqValue(made, values))


def rotated(builder: QdqBuilder, name: str, x: QdqValue) -> QdqValue:
    """Rotary embedding of the position after the cache: x cos + (-second half, first half) sin."""
    angles = np.array([CACHED / 10000 ** (2 * (i % (HEAD // 2)) / HEAD) for i in range(HEAD)])
    cosine, sine = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    half, whole = HEAD // 2, np.iinfo(np.int64).max
    axis = builder.constant(f"{name}_axis", np.array([3], np.int64))
    parts = []
    for side, (first, last) in {"low": (0, half), "high": (half, whole)}.items():
        bounds = [builder.constant(f"{name}_{side}_{i}", np.array([v], np.int64)) for i, v in enumerate((first, last))]
        parts.append(builder.node("Slice", [x.name, *bounds, axis], f"{name}_{side}"))
    turned = builder.node(
        "Concat", [builder.node("Neg", [parts[1]], f"{name}_minus"), parts[0]], f"{name}_turned", axis=3
    )
    other = np.concatenate([-x.values[..., half:], x.values[..., :half]], axis=-1)
    kept = builder.node("Mul", [x.name, builder.constant(f"{name}_cos", cosine)], f"{name}_kept")
    moved = builder.node("Mul", [turned, builder.constant(f"{name}_sin", sine)], f"{name}_swung")
    made = builder.node("Add", [kept, moved], f"{name}_float")
    return builder.quantized(name, QdqValue(made, x.values * cosine + other * sine))


def append(builder: QdqBuilder, name: str, past: QdqValue, new: QdqValue) -> QdqValue:
    """The cache with the new token, in the cache's own scale."""
    same = builder.quantized(f"{name}_new", new, like=past)
    joined = np.concatenate([past.values, same.values], axis=2)
    return builder.quantized(name, builder.apply("Concat", name, joined, past, same, axis=2), like=past)


def attention(
    builder: QdqBuilder, x: QdqValue, past_k: QdqValue, past_v: QdqValue
) -> tuple[QdqValue, QdqValue, QdqValue]:
    def project(name: str) -> QdqValue:
        return builder.heads(name, builder.linear(f"{name}_all", x, HIDDEN, bias=False), HEADS, 0, 2, 1, 3)

    keys = append(builder, "present_k", past_k, rotated(builder, "k_rope", project("k")))
    values = append(builder, "present_v", past_v, project("v"))
    turned = builder.moved("Transpose", "keys_turned", keys, keys.values.transpose(0, 1, 3, 2), perm=[0, 1, 3, 2])
    scores = builder.matmul("scores", rotated(builder, "q_rope", project("q")), turned)
    mixed = builder.matmul("mixed", builder.softmax("weights", scores, math.sqrt(HEAD)), values)
    rows = mixed.values.transpose(0, 2, 1, 3)
    joined = builder.moved("Transpose", "mixed_rows", mixed, rows, perm=[0, 2, 1, 3])
    flat = builder.moved("Reshape", "mixed_flat", joined, rows.reshape(-1, 1, HIDDEN), 1, HIDDEN)
    return builder.linear("attention", flat, HIDDEN, bias=False), keys, values


def feed_forward(builder: QdqBuilder, x: QdqValue) -> QdqValue:
    """silu(gate) * up, then down."""
    gate = builder.linear("gate", x, FEED_FORWARD, bias=False)
    sigmoid = builder.quantized("sigmoid", builder.apply("Sigmoid", "gate", 1 / (1 + np.exp(-gate.values)), gate))
    silu = builder.multiply("silu", gate, sigmoid)
    gated = builder.multiply("gated", silu, builder.linear("up", x, FEED_FORWARD, bias=False))
    return builder.linear("down", gated, HIDDEN, bias=False)


def define(builder: QdqBuilder, inputs: Sequence[QdqValue]) -> None:
    x, past_k, past_v = inputs
    mixed, keys, values = attention(builder, rms_norm(builder, "norm1", x), past_k, past_v)
    x = builder.add("residual1", x, mixed)
    x = builder.add("residual2", x, feed_forward(builder, rms_norm(builder, "norm2", x)))
    for value in (rms_norm(builder, "hidden_out", x), keys, values):
        builder.output(value)


def sample(stream: RandomStream) -> list[np.ndarray]:
    """A decode step at position `CACHED`."""
    cache = [hidden_state(stream, 1, HEADS, CACHED, HEAD) for _ in range(2)]
    return [hidden_state(stream, 1, 1, HIDDEN), *cache]


NETWORKS = (ZooModel("qdq_llama", ("hidden", "past_k", "past_v"), sample, define, 42_539, notation="qdq"),)
