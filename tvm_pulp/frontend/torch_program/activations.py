"""Activation functions."""

import math

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue
from tvm_pulp.frontend.torch_program.elementwise import Operators, unary


def hardtanh(g: GraphBuilder, x: GraphValue, low: float, high: float) -> str:
    return g.emit("Clip", x, np.float32(low), np.float32(high))


def elu(g: GraphBuilder, x: GraphValue, alpha: float, scale: float, input_scale: float) -> str:
    if input_scale == 1:
        made = g.emit("Elu", x, alpha=float(alpha))
    else:
        inner = g.emit("Mul", x, np.float32(input_scale))
        below = g.emit("Mul", g.emit("Sub", g.emit("Exp", inner), np.float32(1)), np.float32(alpha))
        made = g.emit("Where", g.emit("Greater", x, np.float32(0)), x, below)
    return made if scale == 1 else g.emit("Mul", made, np.float32(scale))


def softplus(g: GraphBuilder, x: GraphValue, beta: float, limit: float) -> str:
    if beta == 1:
        return g.emit("Softplus", x)
    scaled = g.emit("Mul", x, np.float32(beta))
    made = g.emit("Mul", g.emit("Softplus", scaled), np.float32(1 / beta))
    return g.emit("Where", g.emit("Greater", scaled, np.float32(limit)), x, made)


def prelu(g: GraphBuilder, x: GraphValue, weight: GraphValue) -> str:
    slope = weight.name
    if weight.rank == 1 and weight.shape != (1,) and x.rank > 2:
        slope = g.reshape(weight, [weight.shape[0], *[1] * (x.rank - 2)])
    return g.emit("PRelu", x, slope)


def threshold(g: GraphBuilder, x: GraphValue, limit: float, value: float) -> str:
    return g.emit("Where", g.emit("Greater", x, np.float32(limit)), x, np.float32(value))


def glu(g: GraphBuilder, x: GraphValue, axis: int) -> str:
    half = x.shape[axis] // 2
    first, second = g.emit_many("Split", [x, g.integers(half, half)], 2, axis=axis)
    return g.emit("Mul", first, g.emit("Sigmoid", second))


def hardshrink(g: GraphBuilder, x: GraphValue, limit: float) -> str:
    return g.emit("Where", g.emit("Greater", g.emit("Abs", x), np.float32(limit)), x, np.float32(0))


def softshrink(g: GraphBuilder, x: GraphValue, limit: float) -> str:
    above = g.emit("Max", g.emit("Sub", x, np.float32(limit)), np.float32(0))
    return g.emit("Add", above, g.emit("Min", g.emit("Add", x, np.float32(limit)), np.float32(0)))


def dropout(g: GraphBuilder, x: GraphValue, share: float, train: bool) -> str:
    if train and not math.isclose(share, 0):
        raise UserError("a dropout is exported as in training: call module.eval() before torch.export.export")
    return x.name


OPERATORS: Operators = {
    **{f"aten.{op.lower()}": unary(op) for op in ("Relu", "Sigmoid", "Tanh", "HardSwish", "Softsign")},
    "aten.relu6": lambda g, x: hardtanh(g, x, 0, 6),
    "aten.hardtanh": hardtanh,
    "aten.hardsigmoid": unary("HardSigmoid", alpha=1 / 6, beta=0.5),
    "aten.leaky_relu": lambda g, x, slope: g.emit("LeakyRelu", x, alpha=float(slope)),
    "aten.elu": elu,
    "aten.celu": lambda g, x, alpha: elu(g, x, alpha, 1, 1 / alpha),
    "aten.selu": unary("Selu", alpha=1.6732632423543772, gamma=1.0507009873554805),
    "aten.gelu": lambda g, x, approximate: g.emit("Gelu", x, approximate=approximate),
    "aten.silu": lambda g, x: g.emit("Mul", x, g.emit("Sigmoid", x)),
    "aten.mish": lambda g, x: g.emit("Mul", x, g.emit("Tanh", g.emit("Softplus", x))),
    "aten.softplus": softplus,
    "aten.log_sigmoid": lambda g, x: g.emit("Neg", g.emit("Softplus", g.emit("Neg", x))),
    "aten.prelu": prelu,
    "aten._prelu_kernel": prelu,
    "aten.threshold": threshold,
    "aten.glu": glu,
    "aten.tanhshrink": lambda g, x: g.emit("Sub", x, g.emit("Tanh", x)),
    "aten.hardshrink": hardshrink,
    "aten.softshrink": softshrink,
    **{f"aten.{n}": lambda g, x, axis, *_: g.emit("Softmax", x, axis=axis) for n in ("softmax.int", "_softmax")},
    **{
        f"aten.{name}": lambda g, x, axis, *_: g.emit("LogSoftmax", x, axis=axis)
        for name in ("log_softmax.int", "_log_softmax")
    },
    "aten.dropout": dropout,
    "aten.feature_dropout": dropout,
}
