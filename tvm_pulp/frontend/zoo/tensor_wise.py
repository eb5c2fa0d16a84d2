"""Layers with one multiplier of eight bits per tensor: what accelerators without constants per channel compute."""

import math
from collections.abc import Callable

import numpy as np

from tvm_pulp.frontend.zoo import calibration, integer_math
from tvm_pulp.frontend.zoo import transformer_layers as layers
from tvm_pulp.frontend.zoo.builder import Builder, CalibratedTensor
from tvm_pulp.frontend.zoo.calibration import RequantShift
from tvm_pulp.frontend.zoo.onnx_graph import number

LARGEST_MULTIPLIER = 255
_PARTIAL_UNIT = 1024
BIAS_DEVIATION = 0.05
# What the most probable logits reach, in octaves: a step is ln 2.
LOGIT_REACH = 9.0
# Of GELU: an input of 127 stands for this.
GELU_REACH = 4.0
# Of biases in steps of what they are added to, and bits of the weights behind the point.
NO_NORM_DEVIATION, NO_NORM_SHIFT = 2.0, 8


def eight_bits(scale: float, signed: bool = True) -> RequantShift:
    """The multiplier of eight bits and the shift that come nearest to a scale."""
    shift = math.floor(math.log2(LARGEST_MULTIPLIER / scale))
    return RequantShift(np.full(1, round(scale * 2.0**shift)), np.zeros(1, np.int64), shift, signed)


def rescale(
    builder: Builder, name: str, acc: CalibratedTensor, high: float = 127.0, signed: bool = True
) -> CalibratedTensor:
    """RequantShift that brings what calibration saw to `high`; without a sign to 128 levels."""
    rule = eight_bits(high / calibration.reach(acc.values, signed=True), signed)
    step = acc.step / (int(rule.mul[0]) * 2.0**-rule.shift)
    return builder.requantize(name, acc, rule, step=step, levels=256 if signed else 128)


def linear(builder: Builder, name: str, x: CalibratedTensor, channels: int) -> CalibratedTensor:
    """Projection with bias."""
    return rescale(builder, name, layers.projection(builder, name, x, channels, BIAS_DEVIATION))


def linear_relu(builder: Builder, name: str, x: CalibratedTensor, channels: int) -> CalibratedTensor:
    """Projection with bias, cut off below zero: a RequantShift to 128 levels without a sign."""
    acc = layers.projection(builder, name, x, channels, BIAS_DEVIATION)
    made = rescale(builder, name, acc, signed=False)
    return CalibratedTensor(name, made.values, 127, made.step)


def linear_gelu(builder: Builder, name: str, x: CalibratedTensor, channels: int) -> CalibratedTensor:
    """Projection with bias and GELU, which keeps the step."""
    made = linear(builder, f"{name}_linear", x, channels)
    acc = layers.gelu_accumulator(builder, name, made, GELU_REACH)
    one = acc.bound / made.bound
    return builder.requantize(name, acc, eight_bits(1 / one), step=made.step)


def residual_sum(builder: Builder, name: str, a: CalibratedTensor, b: CalibratedTensor) -> CalibratedTensor:
    """Sum of two tensors: the one with the finer step is brought to the other's, which stays as it is."""
    fine, coarse = (a, b) if a.step < b.step else (b, a)
    scaled = builder.requantize(f"{name}_scaled", fine, eight_bits(fine.step / coarse.step), step=coarse.step)
    return builder.add(f"{name}_sum", coarse, scaled)


def residual(builder: Builder, name: str, a: CalibratedTensor, b: CalibratedTensor) -> CalibratedTensor:
    """Sum of two tensors, requantized."""
    return rescale(builder, name, residual_sum(builder, name, a, b))


def no_norm(builder: Builder, name: str, x: CalibratedTensor) -> CalibratedTensor:
    """A weight and a bias per column, and the step that results: one multiplication in place of a normalization."""
    columns = x.values.shape[-1]
    weight = builder.random(f"{name}_weight").uniform(0.8, 1.2, columns)
    bias = builder.random(f"{name}_bias").normal(columns) * NO_NORM_DEVIATION
    scale = 127 / calibration.reach(x.values * weight + bias, signed=True)
    one = 1 << NO_NORM_SHIFT
    integers = [np.rint(weight * scale * one).astype(np.int64), np.rint((bias * scale + 0.5) * one).astype(np.int64)]
    names = [builder.constant(f"{name}_{n}", v) for n, v in zip(("weight", "bias"), integers, strict=True)]
    builder.node("iNoNorm", [x.name, *names], name, private=True, D=one, n_levels=256, mul=1)
    values = np.clip((x.values * integers[0] + integers[1]) >> NO_NORM_SHIFT, -128, 127)
    return CalibratedTensor(name, values, 128, x.step / scale)


def octave_softmax(builder: Builder, name: str, logits: CalibratedTensor, levels: int = 256) -> CalibratedTensor:
    """Softmax over logits that step in octaves, in groups of 16; 128 levels give int8."""
    attributes = {"n_levels": number(levels, 1), "group_width": 16}
    builder.node("OctaveSoftmax", [logits.name], name, private=True, **attributes)
    values = _octave_softmax(logits.values, levels - 1)
    return CalibratedTensor(name, values, levels - 1, 1 / (levels - 1), signed=levels == 128)


def partial_softmax(builder: Builder, name: str, logits: CalibratedTensor) -> CalibratedTensor:
    """Softmax over logits of 32 steps per octave, in groups of 16 and sums of 1024ths, 0 to 127."""
    attributes = {"n_levels": number(256, 1), "group_width": 16, "unit": _PARTIAL_UNIT}
    builder.node("ITAPartialMax", [logits.name], name, private=True, **attributes)
    values = _octave_softmax(logits.values, 127, _PARTIAL_UNIT, lambda distance: (distance + 16) // 32)
    return CalibratedTensor(name, values, 127, 1 / 127, signed=False)


def _octave_softmax(
    x: np.ndarray, largest: int, unit: int = 256, octaves: Callable[[np.ndarray], np.ndarray] = np.asarray
) -> np.ndarray:
    """One group after the other; the sum of those before is halved with every octave of a new maximum."""

    def halved(values: np.ndarray | int, distance: np.ndarray) -> np.ndarray:
        return np.asarray(values // 2 ** np.minimum(octaves(distance), 62))

    best, total = np.full((*x.shape[:-1], 1), -128), np.zeros((*x.shape[:-1], 1), np.int64)
    for first in range(0, x.shape[-1], 16):
        group = x[..., first : first + 16]
        higher = np.maximum(best, group.max(-1, keepdims=True))
        total = halved(total, higher - best) + halved(unit, higher - group).sum(-1, keepdims=True)
        best = higher
    return halved(largest * unit // total, best - x)


def attention(
    builder: Builder, name: str, x: CalibratedTensor, heads: int, size: int, levels: int = 256
) -> CalibratedTensor:
    """Multi-head self-attention with its projections."""
    query, keys, values = layers.projected_heads(builder, linear, f"{name}_", x, heads, size)
    logits = rescale(builder, f"{name}_logits", layers.product(builder, f"{name}_logits_acc", query, keys), LOGIT_REACH)
    weights = octave_softmax(builder, f"{name}_softmax", logits, levels)
    mixed = rescale(builder, f"{name}_mixed", layers.product(builder, f"{name}_mixed_acc", weights, values))
    back = builder.transpose(f"{name}_back", mixed, 0, 2, 1, 3)
    row = builder.reshape(f"{name}_row", back, 1, x.shape[1], heads * size)
    return linear(builder, f"{name}_o", row, x.shape[2])


def summed_heads(builder: Builder, name: str, x: CalibratedTensor, heads: int, size: int) -> CalibratedTensor:
    """Multi-head self-attention whose heads each project their output, requantized before they are added."""
    query, keys, values = layers.projected_heads(builder, linear, f"{name}_", x, heads, size)
    logits = rescale(builder, f"{name}_logits", layers.product(builder, f"{name}_logits_acc", query, keys))
    weights = partial_softmax(builder, f"{name}_softmax", logits)
    mixed = rescale(builder, f"{name}_mixed", layers.product(builder, f"{name}_mixed_acc", weights, values))
    matrices = builder.weights(f"{name}_o_weight", heads, size, x.shape[2])[None]
    builder.node("MatMul", [mixed.name, builder.constant(f"{name}_o_weight", matrices)], f"{name}_o_acc")
    products = integer_math.multiply(mixed.values, matrices)
    made = rescale(builder, f"{name}_o", CalibratedTensor(f"{name}_o_acc", products, 128 * 127 * size))
    builder.node("ReduceSum", [made.name], f"{name}_sum", axes=[1], keepdims=0)
    total = CalibratedTensor(f"{name}_sum", made.values.sum(1), heads * made.bound, made.step)
    return rescale(builder, f"{name}_heads", total)
