"""Layers of transformers: projections, attention products, softmax, normalization, activation functions."""

from collections.abc import Callable

import numpy as np

from tvm_pulp.frontend.zoo import calibration, integer_math
from tvm_pulp.frontend.zoo.builder import Builder, CalibratedTensor, product_bound
from tvm_pulp.frontend.zoo.calibration import RequantShift
from tvm_pulp.frontend.zoo.onnx_graph import number

NORM_SHIFT = 16
# A normalized value of one becomes this many steps: 127 steps reach 2.6 deviations.
NORM_STEPS = 48
# Real value of one step of an attention logit; a masked position is then e^-5 or less.
LOGIT_STEP = 1 / 24
# Real magnitude of a projection's output; a hidden state reaches one.
BRANCH_REACH = 0.6
# TrueIntegerDiv by the root of the head size, in the constants that all networks of this dialect share.
ROOT_DIVISION = {"Delta": 16384, "eps": 1, "eta": 200000}


def projection(
    builder: Builder, name: str, x: CalibratedTensor, channels: int, bias_deviation: float = 0.0
) -> CalibratedTensor:
    """MatMul and bias Add on the last axis: an accumulator. Without deviation the bias is all zeros.

    Its step is such that its values are a little smaller than a hidden state, which a residual sum then keeps.
    """
    weight = builder.weights(f"{name}_weight", channels, x.values.shape[-1])
    product = builder.node("MatMul", [x.name, builder.constant(f"{name}_weight", weight.T)], f"{name}_product")
    values = integer_math.multiply(x.values, weight.T)
    reach = calibration.reach(values, signed=True)
    bias = calibration.representable(builder.random(f"{name}_bias").normal(channels) * (reach * bias_deviation))
    builder.node("Add", [builder.constant(f"{name}_bias", bias), product], f"{name}_acc")
    bound = product_bound(x, weight) + int(np.abs(bias).max())
    return CalibratedTensor(f"{name}_acc", values + bias, bound, BRANCH_REACH / reach)


def per_column(builder: Builder, name: str, acc: CalibratedTensor) -> CalibratedTensor:
    """RequantShift to int8 with one multiplier per column, from weight scales that differ a little."""
    columns = acc.values.shape[-1]
    gain = builder.random(f"{name}_gain").uniform(0.7, 1.3, columns)
    limit = calibration.reach(acc.values * gain, signed=True)
    rule = calibration.fixed_point(gain * 127 / limit, np.zeros(columns), acc.bound, signed=True)
    return builder.requantize(name, acc, rule, step=acc.step * limit / 127)


def projected_heads(
    builder: Builder,
    linear: Callable[[Builder, str, CalibratedTensor, int], CalibratedTensor],
    prefix: str,
    x: CalibratedTensor,
    heads: int,
    size: int,
) -> tuple[CalibratedTensor, CalibratedTensor, CalibratedTensor]:
    """Projections to queries, keys, which come transposed, and values; all of their names begin alike."""

    def project(part: str, *axes: int) -> CalibratedTensor:
        name = f"{prefix}{part}"
        split = builder.reshape(f"{name}_heads", linear(builder, name, x, heads * size), 1, x.shape[1], heads, size)
        return builder.transpose(f"{name}_first", split, *axes)

    return project("q", 0, 2, 1, 3), project("k", 0, 2, 3, 1), project("v", 0, 2, 1, 3)


def product(builder: Builder, name: str, a: CalibratedTensor, b: CalibratedTensor) -> CalibratedTensor:
    """MatMul of two activations: an accumulator."""
    builder.node("MatMul", [a.name, b.name], name)
    return CalibratedTensor(name, integer_math.multiply(a.values, b.values), a.bound * b.bound * a.values.shape[-1])


def elementwise_product(builder: Builder, name: str, a: CalibratedTensor, b: CalibratedTensor) -> CalibratedTensor:
    """Mul of two activations: an accumulator."""
    builder.node("Mul", [a.name, b.name], name)
    return CalibratedTensor(name, a.values * b.values, a.bound * b.bound)


def softmax(builder: Builder, name: str, logits: CalibratedTensor) -> CalibratedTensor:
    """The iSoftmax operator: e^x as a polynomial on (-ln 2, 0], halved once per ln 2."""
    # The polynomial 0.3585 (p + 1.353)^2 + 0.344, divided by its first coefficient.
    b, log2 = round(1.353 / LOGIT_STEP), round(0.693147 / LOGIT_STEP)
    c = round(0.344 / 0.3585 / LOGIT_STEP**2)
    constants = {"coeffA": number(1, 1), "coeffB": number(b, 1), "coeffC": number(c, 1), "log2": number(log2, 1)}
    builder.node("iSoftmax", [logits.name], name, private=True, n_levels=number(256, 1), **constants)
    return CalibratedTensor(name, integer_math.softmax(logits.values, b, c, log2), 255, 1 / 255, signed=False)


def _norm(builder: Builder, kind: str, name: str, x: CalibratedTensor, **constants: np.ndarray) -> list[np.ndarray]:
    """A normalization with its weight and, where it has one, its bias: these as stored, in 2^-NORM_SHIFT."""
    stored = {part: np.rint(real * 2.0**NORM_SHIFT).astype(np.int64) for part, real in constants.items()}
    operands = [x.name, *(builder.constant(f"{name}_{part}", values) for part, values in stored.items())]
    builder.node(kind, operands, name, private=True, D=1 << NORM_SHIFT, n_levels=256)
    return list(stored.values())


def _gains(builder: Builder, name: str, x: CalibratedTensor) -> np.ndarray:
    return builder.random(f"{name}_weight").uniform(0.8, 1.2, x.values.shape[-1])


def rms_norm(builder: Builder, name: str, x: CalibratedTensor) -> CalibratedTensor:
    """The iRMSNorm operator."""
    (weight,) = _norm(builder, "iRMSNorm", name, x, weight=_gains(builder, name, x) * NORM_STEPS)
    return CalibratedTensor(name, integer_math.rms_norm(x.values, weight, NORM_SHIFT), 128)


def layer_norm(builder: Builder, name: str, x: CalibratedTensor) -> CalibratedTensor:
    """The iLayerNorm operator."""
    gains, offsets = _gains(builder, name, x), builder.random(f"{name}_bias").normal(x.values.shape[-1])
    weight, bias = _norm(builder, "iLayerNorm", name, x, weight=gains * NORM_STEPS, bias=offsets * 4)
    return CalibratedTensor(name, integer_math.layer_norm(x.values, weight, bias, NORM_SHIFT), 128)


def gelu(builder: Builder, name: str, x: CalibratedTensor, reach: float = 4.0) -> CalibratedTensor:
    """iGELU and its RequantShift; an input of 127 stands for `reach`."""
    return builder.rescale(name, gelu_accumulator(builder, name, x, reach))


def gelu_accumulator(builder: Builder, name: str, x: CalibratedTensor, reach: float) -> CalibratedTensor:
    """iGELU; an input of 127 stands for `reach`."""
    # erf(v) as sign(v) (1 - 0.2888 (min(|v|, 1.769) - 1.769)^2) with v = x / sqrt(2).
    step = reach / 127 / 2**0.5
    b, one = -round(1.769 / step), round(1 / 0.2888 / step**2)
    builder.node("iGELU", [x.name], f"{name}_acc", private=True, b=b, one=one)
    return CalibratedTensor(f"{name}_acc", integer_math.gelu(x.values, b, one), x.bound * (one + 1))


def hardswish(builder: Builder, name: str, x: CalibratedTensor, reach: float = 4.0) -> CalibratedTensor:
    """iHardswish and its RequantShift; an input of 127 stands for `reach`."""
    step = reach / 127
    constants = {"one_over_six": 43, "three": round(3 / step), "six": round(6 / step)}
    builder.node("iHardswish", [x.name], f"{name}_acc", private=True, **constants)
    values = integer_math.hardswish(x.values, **constants)
    return builder.rescale(
        name, CalibratedTensor(f"{name}_acc", values, x.bound * constants["six"] * constants["one_over_six"])
    )


def halve(builder: Builder, name: str, x: CalibratedTensor) -> CalibratedTensor:
    """Division by two, the root of a head size of four: TrueIntegerDiv and its RequantShift."""
    delta, eps, eta = ROOT_DIVISION.values()
    builder.node("TrueIntegerDiv", [x.name], f"{name}_acc", private=True, y=2, **ROOT_DIVISION)
    acc = CalibratedTensor(f"{name}_acc", x.values * delta * eta // (2 * eta + eps), x.bound * delta // 2)
    return times(builder, name, acc, 4)


def times(builder: Builder, name: str, x: CalibratedTensor, mul: int = 1 << 16) -> CalibratedTensor:
    """RequantShift by mul / 2^16; the default is the identity that exporters leave behind."""
    rule = RequantShift(np.full(1, mul), np.zeros(1, np.int64), 16, signed=True)
    return builder.requantize(name, x, rule)


def concat(builder: Builder, name: str, a: CalibratedTensor, b: CalibratedTensor, axis: int) -> CalibratedTensor:
    """Concat of two int8 tensors."""
    builder.node("Concat", [a.name, b.name], name, axis=axis)
    return CalibratedTensor(name, np.concatenate([a.values, b.values], axis), 128)
