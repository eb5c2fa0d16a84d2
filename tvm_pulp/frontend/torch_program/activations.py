"""Activation functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators, unary
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


def hardtanh(g: GraphBuilder, x: Value, low: float = -1, high: float = 1) -> str:
    return g.emit("Clip", x, np.float32(low), np.float32(high))


def relu6(g: GraphBuilder, x: Value) -> str:
    return hardtanh(g, x, 0, 6)


def hardsigmoid(g: GraphBuilder, x: Value) -> str:
    return g.emit("HardSigmoid", x, alpha=1 / 6, beta=0.5)


def hardswish(g: GraphBuilder, x: Value) -> str:
    return g.emit("HardSwish", x)


def leaky_relu(g: GraphBuilder, x: Value, slope: float = 0.01) -> str:
    return g.emit("LeakyRelu", x, alpha=float(slope))


def elu(g: GraphBuilder, x: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> str:
    inner: Any = x if input_scale == 1 else g.emit("Mul", x, np.float32(input_scale))
    if input_scale == 1:
        made = g.emit("Elu", inner, alpha=float(alpha))
    else:
        below = g.emit("Mul", g.emit("Sub", g.emit("Exp", inner), np.float32(1)), np.float32(alpha))
        made = g.emit("Where", g.emit("Greater", x, np.float32(0)), x, below)
    return made if scale == 1 else g.emit("Mul", made, np.float32(scale))


def celu(g: GraphBuilder, x: Value, alpha: float = 1) -> str:
    return elu(g, x, alpha, 1, 1 / alpha)


def gelu(g: GraphBuilder, x: Value, approximate: str = "none") -> str:
    return g.emit("Gelu", x, approximate=approximate)


def silu(g: GraphBuilder, x: Value) -> str:
    return g.emit("Mul", x, g.emit("Sigmoid", x))


def mish(g: GraphBuilder, x: Value) -> str:
    return g.emit("Mul", x, g.emit("Tanh", g.emit("Softplus", x)))


def softplus(g: GraphBuilder, x: Value, beta: float = 1, threshold: float = 20) -> str:
    if beta == 1:
        return g.emit("Softplus", x)
    scaled = g.emit("Mul", x, np.float32(beta))
    made = g.emit("Mul", g.emit("Softplus", scaled), np.float32(1 / beta))
    return g.emit("Where", g.emit("Greater", scaled, np.float32(threshold)), x, made)


def log_sigmoid(g: GraphBuilder, x: Value) -> str:
    return g.emit("Neg", g.emit("Softplus", g.emit("Neg", x)))


def prelu(g: GraphBuilder, x: Value, weight: Value) -> str:
    slope = weight.name
    if weight.rank == 1 and weight.shape != (1,) and x.rank > 2:
        slope = g.reshape(weight, [weight.shape[0], *[1] * (x.rank - 2)])
    return g.emit("PRelu", x, slope)


def threshold(g: GraphBuilder, x: Value, limit: float, value: float) -> str:
    return g.emit("Where", g.emit("Greater", x, np.float32(limit)), x, np.float32(value))


def glu(g: GraphBuilder, x: Value, axis: int = -1) -> str:
    half = x.shape[axis] // 2
    first, second = g.emit_many("Split", [x, g.integers(half, half)], 2, axis=axis)
    return g.emit("Mul", first, g.emit("Sigmoid", second))


def tanhshrink(g: GraphBuilder, x: Value) -> str:
    return g.emit("Sub", x, g.emit("Tanh", x))


def hardshrink(g: GraphBuilder, x: Value, limit: float = 0.5) -> str:
    return g.emit("Where", g.emit("Greater", g.emit("Abs", x), np.float32(limit)), x, np.float32(0))


def softshrink(g: GraphBuilder, x: Value, limit: float = 0.5) -> str:
    above = g.emit("Max", g.emit("Sub", x, np.float32(limit)), np.float32(0))
    return g.emit("Add", above, g.emit("Min", g.emit("Add", x, np.float32(limit)), np.float32(0)))


def softmax(g: GraphBuilder, x: Value, axis: int, *_: Any) -> str:
    return g.emit("Softmax", x, axis=axis)


def log_softmax(g: GraphBuilder, x: Value, axis: int, *_: Any) -> str:
    return g.emit("LogSoftmax", x, axis=axis)


def selu(g: GraphBuilder, x: Value) -> str:
    return g.emit("Selu", x, alpha=1.6732632423543772, gamma=1.0507009873554805)


def softsign(g: GraphBuilder, x: Value) -> str:
    return g.emit("Softsign", x)


def dropout(g: GraphBuilder, x: Value, share: float, train: bool) -> str:
    from tvm_pulp.errors import UserError

    if train and not math.isclose(share, 0):
        raise UserError("a dropout is exported as in training: call module.eval() before torch.export.export")
    return x.name


OPERATORS: Operators = {
    "aten.relu": unary("Relu"),
    "aten.relu6": relu6,
    "aten.sigmoid": unary("Sigmoid"),
    "aten.tanh": unary("Tanh"),
    "aten.hardtanh": hardtanh,
    "aten.hardsigmoid": hardsigmoid,
    "aten.hardswish": hardswish,
    "aten.leaky_relu": leaky_relu,
    "aten.elu": elu,
    "aten.celu": celu,
    "aten.selu": selu,
    "aten.gelu": gelu,
    "aten.silu": silu,
    "aten.mish": mish,
    "aten.softplus": softplus,
    "aten.softsign": softsign,
    "aten.log_sigmoid": log_sigmoid,
    "aten.prelu": prelu,
    "aten._prelu_kernel": prelu,
    "aten.threshold": threshold,
    "aten.glu": glu,
    "aten.tanhshrink": tanhshrink,
    "aten.hardshrink": hardshrink,
    "aten.softshrink": softshrink,
    "aten.softmax.int": softmax,
    "aten._softmax": softmax,
    "aten.log_softmax.int": log_softmax,
    "aten._log_softmax": log_softmax,
    "aten.dropout": dropout,
    "aten.feature_dropout": dropout,
}
