"""Converters of the integer dialect: operators that only move data."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.onnx_dialect_values import Values
from tvm_pulp.frontend.onnx_file import OnnxNode
from tvm_pulp.frontend.relax_values import as_image
from tvm_pulp.frontend.windows import window_attributes
from tvm_pulp.qnn.operator import spec_of


def convert_reshape(values: Values, node: OnnxNode) -> None:
    source, target = values.spec(), values.listed(1) or []
    keep_zero = node.integer("allowzero", default=0)
    shape = [source.shape[i] if d == 0 and not keep_zero else d for i, d in enumerate(target)]
    if -1 in shape:
        known = math.prod(d for d in shape if d != -1)
        shape[shape.index(-1)] = source.elements // known if known else 0
    _reshape(values, shape)


def _reshape(values: Values, shape: Sequence[int]) -> None:
    source = values.spec()
    refuse_if(math.prod(shape) != source.elements, f"{values.node.label}: {source} cannot become {list(shape)}")
    values.bind(relax.op.reshape(values.operand(), tuple(shape)))


def convert_flatten(values: Values, node: OnnxNode) -> None:
    shape, axis = values.spec().shape, node.integer("axis", default=1)
    _reshape(values, [math.prod(shape[:axis]), math.prod(shape[axis:])])


def axes_of(values: Values, node: OnnxNode, *names: str) -> list[int] | None:
    """Axes from an attribute or the second operand, as the file counts them; None where it names none."""
    given = next((node.attributes[name] for name in names if name in node.attributes), None)
    return values.listed(1) if given is None else [int(a) for a in np.atleast_1d(given)]


def convert_squeeze(values: Values, node: OnnxNode) -> None:
    shape, axes = values.spec().shape, axes_of(values, node, "axes")
    dropped = [i for i, d in enumerate(shape) if d == 1] if axes is None else [a % len(shape) for a in axes]
    _reshape(values, [d for i, d in enumerate(shape) if i not in dropped])


def convert_unsqueeze(values: Values, node: OnnxNode) -> None:
    shape, axes = values.spec().shape, axes_of(values, node, "axes") or []
    rank, rest = len(shape) + len(axes), iter(shape)
    added = {a % rank for a in axes}
    _reshape(values, [1 if i in added else next(rest) for i in range(rank)])


def convert_identity(values: Values, node: OnnxNode) -> None:
    values.define(node.outputs[0], values.operand())


def convert_transpose(values: Values, node: OnnxNode) -> None:
    axes = [int(a) for a in node.attributes.get("perm", range(len(values.spec().shape))[::-1])]
    values.emit("transpose", [values.operand()], {"axes": axes})


def convert_concat(values: Values, node: OnnxNode) -> None:
    operands = [values.expression(i) for i in node.inputs]
    axis = node.integer("axis") % len(spec_of(operands[0]).shape)
    parts = [p for p in operands if spec_of(p).elements]
    refuse_if(not parts, f"{node.label}: every operand is empty")
    if len(parts) == 1:
        values.define(node.outputs[0], parts[0])
        return
    if len({spec_of(p).dtype for p in parts}) > 1:
        parts = [values.widened(p) for p in parts]
    values.emit("concat", parts, {"axis": axis})


def convert_slice(values: Values, node: OnnxNode) -> None:
    shape = values.spec().shape
    if "starts" in node.attributes:
        given = [*(node.attributes.get(name) for name in ("starts", "ends", "axes")), None]
    else:
        given = [values.listed(place) for place in (1, 2, 3, 4)]
    starts, ends = given[0] or [], given[1] or []
    axes = range(len(starts)) if given[2] is None else given[2]
    steps = [1] * len(starts) if given[3] is None else given[3]
    picked = [range(d) for d in shape]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        picked[axis] = range(shape[axis])[slice(int(start), int(end), int(step))]
    refuse_if(not all(picked), f"{node.label}: the result is empty")
    places = {"begin": [p.start for p in picked], "stride": [p.step for p in picked], "size": [len(p) for p in picked]}
    values.emit("slice", [values.operand()], places)


def convert_gather(values: Values, node: OnnxNode) -> None:
    shape, indices = values.spec().shape, values.constant(1)
    axis = node.integer("axis", default=0) % len(shape)
    size = shape[axis]
    outside = indices.size and (indices.min() < -size or indices.max() >= size)
    refuse_if(outside, f"{node.label}: an index is outside 0..{size - 1}")
    indices = np.asarray(np.where(indices < 0, indices + size, indices), np.int32)
    if size == 1 and indices.ndim == 0:
        _reshape(values, [d for i, d in enumerate(shape) if i != axis])  # the only slice: a view
    else:
        values.emit("gather", [values.operand(), indices], {"axis": axis})


def convert_pad(values: Values, node: OnnxNode) -> None:
    rank, mode = len(values.spec().shape), node.attributes.get("mode", "constant")
    refuse_if(mode != "constant", f"{node.label}: mode '{mode}' is not supported, only constant")
    if "pads" in node.attributes:
        pads, value = [int(p) for p in node.attributes["pads"]], node.integer("value", default=0)
    else:
        pads, value = values.listed(1) or [], (values.listed(2) or [0])[0]
    refuse_if(min(pads) < 0, f"{node.label}: negative padding is not supported; use Slice")
    values.emit("pad", [values.operand()], {"before": pads[:rank], "after": pads[rank:], "value": value})


def convert_max_pool(values: Values, node: OnnxNode) -> None:
    shape, kernel = values.spec().shape, [int(k) for k in node.attributes["kernel_shape"]]
    refuse_if(node.integer("ceil_mode", default=0), f"{node.label}: ceil_mode is not supported; pad explicitly")
    windows = window_attributes(node.attributes, node.auto_pad, shape[2:], kernel)
    rows = [1] * (4 - len(shape))
    image = as_image(values.builder, values.operand(), shape)
    as_given(values, values.emit("max_pool", [image], {**windows, "kernel": [*rows, *kernel]}), len(shape))


def as_given(values: Values, result: Any, rank: int) -> None:
    """The result of a window over an image, as a sequence where the operand was one."""
    if rank == 3:
        n, channels, _, length = spec_of(result).shape
        values.bind(relax.op.reshape(result, (n, channels, length)))


CONVERTERS: dict[str, Callable[[Values, OnnxNode], None]] = {
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
