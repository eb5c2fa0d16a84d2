"""Normalizations. Batch norms of inference become part of the convolution or product before them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue
from tvm_pulp.frontend.torch_program.elementwise import Operators


def _known(g: GraphBuilder, x: GraphValue, parameters: Sequence[GraphValue | None], epsilon: float) -> str:
    """A norm by constants: weight, bias, mean, variance of every channel."""
    channels = x.shape[1]
    scale, shift, mean, variance = (g.array(v) if v is not None else None for v in parameters)
    scale = scale if scale is not None else np.ones(channels, np.float32)
    shift = shift if shift is not None else np.zeros(channels, np.float32)
    if mean is None or variance is None:
        raise UserError("a batch norm's statistics are not constants: call module.eval() before exporting it")
    factor = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + epsilon)
    offset = shift.astype(np.float64) - mean * factor
    if x.readers == 1 and _into_product(g, x, factor, offset):
        return x.name
    factors, offsets = (a.astype(np.float32).reshape(_per_channel(x)) for a in (factor, offset))
    return g.emit("Add", g.emit("Mul", x, factors), offsets)


def _per_channel(x: GraphValue) -> list[int]:
    return [x.shape[1], *[1] * (x.rank - 2)]


def _into_product(g: GraphBuilder, x: GraphValue, factor: np.ndarray, offset: np.ndarray) -> bool:
    """Scale weights and bias of the node that makes the operand, if they are constants of its own."""
    node = g.maker(x.name)
    if node is None or node.op_type not in ("Conv", "ConvTranspose", "Gemm") or node.input[1] not in g.constants:
        return False
    if any(name not in g.constants for name in node.input[2:]):
        return False
    weight = g.constants[node.input[1]].astype(np.float64)
    if node.op_type == "ConvTranspose":
        groups = next(a.i for a in node.attribute if a.name == "group")
        split = weight.reshape(groups, -1, *weight.shape[1:])
        factors = factor.reshape(groups, 1, weight.shape[1], *[1] * (weight.ndim - 2))
        scaled = (split * factors).reshape(weight.shape)
    else:
        scaled = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
    before = g.constants[node.input[2]].astype(np.float64) if len(node.input) > 2 else np.zeros(factor.size)
    operands = [node.input[0], g.constant(scaled.astype(np.float32))]
    operands.append(g.constant((before * factor + offset).astype(np.float32)))
    del node.input[:]
    node.input.extend(operands)
    return True


def batch_norm(g: GraphBuilder, x: GraphValue, *operands: Any) -> str:
    *parameters, training, _momentum, epsilon = operands[:7]
    refuse_if(training, "a batch norm is exported as in training: call module.eval() before torch.export.export")
    return _known(g, x, parameters, epsilon)


def layer_norm(g: GraphBuilder, x: GraphValue, shape: Sequence[int], *operands: Any) -> str:
    weight, bias, epsilon = operands[:3]
    scale = weight if weight is not None else np.ones(tuple(shape), np.float32)
    return g.emit("LayerNormalization", x, scale, bias, axis=-len(shape), epsilon=float(epsilon))


def rms_norm(
    g: GraphBuilder, x: GraphValue, shape: Sequence[int], weight: GraphValue | None, epsilon: float | None
) -> str:
    """x / sqrt(mean(x²) + epsilon) * weight."""
    axes = g.integers(*range(-len(shape), 0))
    mean = g.emit("ReduceMean", g.emit("Mul", x, x), axes, keepdims=1)
    tiny = np.finfo(x.dtype).eps if epsilon is None else epsilon
    root = g.emit("Sqrt", g.emit("Add", mean, np.asarray(tiny, x.dtype)))
    made = g.emit("Div", x, root)
    return made if weight is None else g.emit("Mul", made, weight)


def group_norm(g: GraphBuilder, x: GraphValue, groups: int, *operands: Any) -> str:
    """An instance norm of each group, then factor and offset of each channel, as both ONNX exporters write it."""
    weight, bias, epsilon = operands[:3]
    ones, zeros = np.ones(groups, np.float32), np.zeros(groups, np.float32)
    batch, channels = x.shape[:2]
    joined = g.reshape(x, [batch, groups, channels // groups * math.prod(x.shape[2:])])
    made = g.reshape(g.emit("InstanceNormalization", joined, ones, zeros, epsilon=float(epsilon)), x.shape)
    shape = _per_channel(x)
    for op, operand in (("Mul", weight), ("Add", bias)):
        if operand is not None:
            held = g.array(operand)
            made = g.emit(op, made, held.reshape(shape) if held is not None else g.reshape(operand, shape))
    return made


def instance_norm(g: GraphBuilder, x: GraphValue, *operands: Any) -> str:
    weight, bias, mean, variance, use_input_statistics, _momentum, epsilon = operands[:7]
    if not use_input_statistics and mean is not None and variance is not None:
        return _known(g, x, (weight, bias, mean, variance), epsilon)
    scale = weight if weight is not None else np.ones(x.shape[1], np.float32)
    shift = bias if bias is not None else np.zeros(x.shape[1], np.float32)
    return g.emit("InstanceNormalization", x, scale, shift, epsilon=float(epsilon))


OPERATORS: Operators = {
    "aten._native_batch_norm_legit_no_training": lambda g, x, *rest: [_known(g, x, rest[:4], rest[5]), None, None],
    "aten.batch_norm": batch_norm,
    "aten.layer_norm": layer_norm,
    "aten.native_layer_norm": lambda g, *operands: [layer_norm(g, *operands), None, None],
    "aten.rms_norm": rms_norm,
    "aten.group_norm": group_norm,
    "aten.instance_norm": instance_norm,
}
