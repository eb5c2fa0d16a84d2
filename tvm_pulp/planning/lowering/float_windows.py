"""Convolutions and pools of floats as layers of the dialect; padding becomes a layer before them."""

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.match import needed, require
from tvm_pulp.canonicalize.qdq_movement import steps
from tvm_pulp.canonicalize.qdq_transposed import phase_filters, spatial_axis
from tvm_pulp.canonicalize.rewriter import Rewriter, constant, integers
from tvm_pulp.qnn.float_map import emit_map
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.tensor_spec import TensorSpec


def conv(rewriter: Rewriter, call: Any) -> Any:
    """Along two axes, or along one: lines are images of one row."""
    x, is_line = call.args[0], len(call.attrs.strides) == 1
    factors = _factors(rewriter, call, *(("NCW", "OIW") if is_line else ("NCHW", "OIHW")))
    if is_line:
        n, channels, width = spec_of(x).shape
        x, factors = rewriter.emit(relax.op.reshape(x, (n, channels, 1, width)), "line"), factors[:, :, None]
    window = steps(call)
    padded = _pad(rewriter, x, window.pop("pads"), 0.0)
    made = _convolution(padded, factors, {**window, "groups": int(call.attrs.groups)})
    if is_line:
        image = rewriter.emit(made)
        require(spec_of(image).elements == spec_of(call).elements)
        return relax.op.reshape(image, spec_of(call).shape)
    found = qnn.OPERATORS["float_conv2d"].infer(qnn.attributes(made), [spec_of(o) for o in made.args])
    require(found.shape == spec_of(call).shape)
    return made


def conv2d_transpose(rewriter: Rewriter, call: Any) -> Any:
    """All phases of the result as channels of one convolution, laid side by side afterwards."""
    a, x, factors = call.attrs, call.args[0], _factors(rewriter, call, "NCHW", "IOHW")
    require(int(a.groups) == 1)
    size, kernel = spec_of(x).shape[2:], factors.shape[2:]
    rows, columns = (spatial_axis(a, n, size[n], kernel[n]) for n in range(2))
    require(all(min(axis.pads) >= 0 and axis.result > 0 for axis in (rows, columns)))
    n, channels = spec_of(call).shape[:2]
    padded = _pad(rewriter, x, [rows.pads[0], columns.pads[0], rows.pads[1], columns.pads[1]], 0.0)
    # One phase after the other, in each all channels.
    filters = phase_filters(factors.transpose(1, 0, 2, 3), (rows, columns))
    taps = factors.shape[0] * factors.shape[2] * factors.shape[3] // (rows.stride * columns.stride)
    attributes = {"strides": [1, 1], "dilation": [1, 1], "groups": 1, "macs_per_output": taps}
    value = rewriter.emit(_convolution(padded, filters, attributes))
    if (rows.stride, columns.stride) != (1, 1):
        phases = (n, rows.stride, columns.stride, channels, rows.blocks, columns.blocks)
        apart = rewriter.emit(relax.op.reshape(value, phases))
        beside = rewriter.emit(qnn.emit("transpose", [apart], {"axes": [0, 3, 4, 1, 5, 2]}))
        shape = (n, channels, rows.stride * rows.blocks, columns.stride * columns.blocks)
        value = rewriter.emit(relax.op.reshape(beside, shape))
    if spec_of(value).shape == spec_of(call).shape:
        return value
    wanted = {"begin": [0, 0, rows.crop, columns.crop], "stride": [1] * 4, "size": list(spec_of(call).shape)}
    return qnn.emit("slice", [value], wanted)


def avg_pool2d(rewriter: Rewriter, call: Any) -> Any:
    """Windows over padding that does not count are larger by what they hold of it."""
    made, (top, left, bottom, right) = pool2d(rewriter, call, "avg", 0.0), steps(call)["pads"]
    if call.attrs.count_include_pad or not any((top, left, bottom, right)):
        return made
    height, width = spec_of(call.args[0]).shape[2:]
    inside = np.pad(np.ones((1, 1, height, width)), ((0, 0), (0, 0), (top, bottom), (left, right)))
    share = qnn.OPERATORS["float_pool"].reference(qnn.attributes(made), [inside])
    larger = relax.const((1 / share).astype(np.float32))
    return emit_map(["multiply", ["x", 0], ["x", 1]], [rewriter.emit(made), larger], spec_of(call).shape)


def pool2d(rewriter: Rewriter, call: Any, kind: str = "max", fill: float = -math.inf) -> Any:
    a, x = call.attrs, call.args[0]
    layouts = (str(a.layout), str(a.out_layout) or str(a.layout))
    require(spec_of(x).dtype == "float32" and layouts == ("NCHW", "NCHW"))
    attributes = {**steps(call), "kind": kind, "kernel": integers(a.pool_size)}
    top, left, bottom, right = pads = attributes.pop("pads")
    n, channels, height, width = spec_of(x).shape
    size = TensorSpec((n, channels, height + top + bottom, width + left + right), "float32")
    # Windows that reach beyond the padding (a size rounded up) are another operator.
    operator = qnn.OPERATORS["float_pool"]
    require(operator.infer(operator.stated(attributes), [size]).shape == spec_of(call).shape)
    return qnn.emit("float_pool", [_pad(rewriter, x, pads, fill)], attributes)


def _convolution(x: Any, filters: np.ndarray, attributes: dict[str, Any]) -> Any:
    """The layer wants filters last."""
    weight = relax.const(np.ascontiguousarray(filters.transpose(1, 2, 3, 0)))
    return qnn.emit("float_conv2d", [x, weight], attributes)


def _factors(rewriter: Rewriter, call: Any, layout: str, kernel_layout: str) -> np.ndarray:
    """Constant weights of a convolution in these layouts, as floats; integers would be converted by a kernel every
    time."""
    a, weight = call.attrs, call.args[1]
    layouts = (str(a.data_layout), str(a.kernel_layout), str(a.out_layout) or str(a.data_layout))
    require(layouts == (layout, kernel_layout, layout) and spec_of(call).dtype == "float32")
    made = rewriter.definition(weight)
    if not qnn.is_qnn(made, "dequantize"):
        return np.asarray(needed(constant(weight)))
    held = [needed(constant(a)) for a in made.args]
    return np.asarray(qnn.OPERATORS["dequantize"].reference(qnn.attributes(made), held))


def _pad(rewriter: Rewriter, x: Any, sides: list[int], fill: float) -> Any:
    top, left, bottom, right = sides
    if not any(sides):
        return x
    attributes = {"before": [0, 0, top, left], "after": [0, 0, bottom, right], "value": fill}
    return rewriter.emit(qnn.emit("pad", [x], attributes))


CONVERTERS = {
    **dict.fromkeys(("relax.nn.conv1d", "relax.nn.conv2d"), conv),
    "relax.nn.conv2d_transpose": conv2d_transpose,
    "relax.nn.max_pool2d": pool2d,
    "relax.nn.avg_pool2d": avg_pool2d,
}
