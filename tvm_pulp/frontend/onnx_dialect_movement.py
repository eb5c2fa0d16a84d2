"""Converters of the integer dialect: operators that only move data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_dialect_values import Values
from tvm_pulp.frontend.onnx_file import Node
from tvm_pulp.frontend.onnx_windows import pads_of, pairs
from tvm_pulp.qnn.operator import spec_of


def convert_reshape(values: Values, node: Node) -> None:
    source = values.spec(node.inputs[0])
    target = [int(d) for d in values.constant(node.inputs[1], "int64").reshape(-1)]
    keep_zero = node.integer("allowzero", default=0)
    shape = [source.shape[i] if d == 0 and not keep_zero else d for i, d in enumerate(target)]
    if -1 in shape:
        known = int(np.prod([d for d in shape if d != -1]))
        shape[shape.index(-1)] = source.elements // known if known else 0
    _reshape(values, node, shape)


def _reshape(values: Values, node: Node, shape: list[int]) -> None:
    source = values.spec(node.inputs[0])
    if int(np.prod(shape)) != source.elements:
        raise UserError(f"node '{node.name}' ({node.op_type}): {source} cannot become {shape}")
    values.bind(relax.op.reshape(values.expression(node.inputs[0]), tuple(shape)), node.outputs[0])


def convert_flatten(values: Values, node: Node) -> None:
    shape, axis = values.spec(node.inputs[0]).shape, node.integer("axis", default=1)
    _reshape(values, node, [int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))])


def _listed_axes(values: Values, node: Node) -> list[int] | None:
    if "axes" in node.attributes:
        return [int(a) for a in node.attributes["axes"]]
    if len(node.inputs) > 1 and node.inputs[1]:
        return [int(a) for a in values.constant(node.inputs[1], "int64").reshape(-1)]
    return None


def convert_squeeze(values: Values, node: Node) -> None:
    shape = values.spec(node.inputs[0]).shape
    axes = _listed_axes(values, node)
    dropped = [i for i, d in enumerate(shape) if d == 1] if axes is None else [a % len(shape) for a in axes]
    _reshape(values, node, [d for i, d in enumerate(shape) if i not in dropped])


def convert_unsqueeze(values: Values, node: Node) -> None:
    shape, axes = values.spec(node.inputs[0]).shape, _listed_axes(values, node) or []
    rank = len(shape) + len(axes)
    added = {a % rank for a in axes}
    rest = iter(shape)
    _reshape(values, node, [1 if i in added else next(rest) for i in range(rank)])


def convert_identity(values: Values, node: Node) -> None:
    values.define(node.outputs[0], values.expression(node.inputs[0]))


def convert_transpose(values: Values, node: Node) -> None:
    rank = len(values.spec(node.inputs[0]).shape)
    axes = [int(a) for a in node.attributes.get("perm", range(rank)[::-1])]
    values.emit("transpose", [values.expression(node.inputs[0])], {"axes": axes}, node.outputs[0])


def convert_concat(values: Values, node: Node) -> None:
    parts = [values.expression(i) for i in node.inputs]
    axis = node.integer("axis") % len(spec_of(parts[0]).shape)
    parts = [p for p in parts if spec_of(p).elements]
    if not parts:
        raise UserError(f"node '{node.name}' (Concat): every operand is empty")
    if len(parts) == 1:
        values.define(node.outputs[0], parts[0])
        return
    if len({spec_of(p).dtype for p in parts}) > 1:
        parts = [values.cast(p, "int32") for p in parts]
    values.emit("concat", parts, {"axis": axis}, node.outputs[0])


def convert_slice(values: Values, node: Node) -> None:
    shape = values.spec(node.inputs[0]).shape
    if "starts" in node.attributes:
        starts, ends = list(node.attributes["starts"]), list(node.attributes["ends"])
        axes, steps = list(node.attributes.get("axes", range(len(starts)))), [1] * len(starts)
    else:
        lists = [values.constant(i, "int64").reshape(-1).tolist() if i else None for i in node.inputs[1:]]
        starts, ends = lists[0] or [], lists[1] or []
        axes = lists[2] if len(lists) > 2 and lists[2] is not None else list(range(len(starts)))
        steps = lists[3] if len(lists) > 3 and lists[3] is not None else [1] * len(starts)
    begin, stride, size = [0] * len(shape), [1] * len(shape), list(shape)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        picked = range(shape[axis])[slice(int(start), int(end), int(step))]
        begin[axis % len(shape)], stride[axis % len(shape)], size[axis % len(shape)] = (
            picked.start,
            picked.step,
            len(picked),
        )
    if 0 in size:
        raise UserError(f"node '{node.name}' (Slice): the result is empty")
    attributes = {"begin": begin, "stride": stride, "size": size}
    values.emit("slice", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def convert_gather(values: Values, node: Node) -> None:
    shape = values.spec(node.inputs[0]).shape
    axis = node.integer("axis", default=0) % len(shape)
    indices = values.constant(node.inputs[1], "int32")
    if indices.size and (indices.min() < -shape[axis] or indices.max() >= shape[axis]):
        raise UserError(f"node '{node.name}' (Gather): an index is outside 0..{shape[axis] - 1}")
    indices = np.asarray(np.where(indices < 0, indices + shape[axis], indices), np.int32)
    if shape[axis] == 1 and indices.ndim == 0:
        _reshape(values, node, [d for i, d in enumerate(shape) if i != axis])  # the only slice: a view
        return
    values.emit("gather", [values.expression(node.inputs[0]), indices], {"axis": axis}, node.outputs[0])


def convert_pad(values: Values, node: Node) -> None:
    shape = values.spec(node.inputs[0]).shape
    mode = node.attributes.get("mode", "constant")
    if mode != "constant":
        raise UserError(f"node '{node.name}' (Pad): mode '{mode}' is not supported, only constant")
    if "pads" in node.attributes:
        pads, value = [int(p) for p in node.attributes["pads"]], node.integer("value", default=0)
    else:
        pads = [int(p) for p in values.constant(node.inputs[1], "int64").reshape(-1)]
        has_value = len(node.inputs) > 2 and bool(node.inputs[2])
        value = int(values.constant(node.inputs[2], "int64").reshape(-1)[0]) if has_value else 0
    if min(pads) < 0:
        raise UserError(f"node '{node.name}' (Pad): negative padding is not supported; use Slice")
    attributes = {"before": pads[: len(shape)], "after": pads[len(shape) :], "value": value}
    values.emit("pad", [values.expression(node.inputs[0])], attributes, node.outputs[0])


def convert_max_pool(values: Values, node: Node) -> None:
    spec = values.spec(node.inputs[0])
    one_dimensional = len(spec.shape) == 3
    x = values.expression(node.inputs[0])
    kernel = [int(k) for k in node.attributes["kernel_shape"]]
    if node.integer("ceil_mode", default=0):
        raise UserError(f"node '{node.name}' (MaxPool): ceil_mode is not supported; pad explicitly")
    if one_dimensional:
        n, c, length = spec.shape
        x, kernel = values.builder.emit(relax.op.reshape(x, (n, c, 1, length))), [1, *kernel]
    attributes = {
        "layout": "NCHW",
        "kernel": kernel,
        "strides": pairs(node, "strides", one_dimensional),
        "dilation": pairs(node, "dilations", one_dimensional),
        "pads": pads_of(node, spec.shape[2:], kernel, one_dimensional),
    }
    result = values.emit("max_pool", [x], attributes, node.outputs[0])
    if one_dimensional:
        n, c, _, length = spec_of(result).shape
        values.bind(relax.op.reshape(result, (n, c, length)), node.outputs[0])


CONVERTERS: dict[str, Callable[[Values, Node], None]] = {
    "Reshape": convert_reshape,
    "Flatten": convert_flatten,
    "Squeeze": convert_squeeze,
    "Unsqueeze": convert_unsqueeze,
    "Identity": convert_identity,
    "Transpose": convert_transpose,
    "Concat": convert_concat,
    "Slice": convert_slice,
    "Gather": convert_gather,
    "Pad": convert_pad,
    "MaxPool": convert_max_pool,
}
