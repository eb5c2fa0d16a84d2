"""Convolutions and pools of floats as layers of the dialect; padding becomes a layer before them."""

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.qdq_transposed import Axis, phase_filters
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.tensor_spec import TensorSpec


def conv2d(rewriter: Rewriter, call: Any) -> Any:
    a, x, factors = call.attrs, call.args[0], _factors(rewriter, call, "NCHW", "OIHW")
    if factors is None:
        return None
    padded = _pad(rewriter, x, _sides(a.padding), 0.0)
    made = _convolution(padded, factors, {**_window(a), "groups": int(a.groups)})
    found = qnn.OPERATORS["float_conv2d"].infer(qnn.attributes(made), [spec_of(o) for o in made.args])
    return made if found.shape == spec_of(call).shape else None


def conv1d(rewriter: Rewriter, call: Any) -> Any:
    """Lines are images of one row."""
    a, x, factors = call.attrs, call.args[0], _factors(rewriter, call, "NCW", "OIW")
    if factors is None:
        return None
    n, channels, width = spec_of(x).shape
    left, right = ([int(p) for p in a.padding] * 2)[:2]
    attributes = {
        "strides": [1, int(a.strides[0])], "dilation": [1, int(a.dilation[0])], "groups": int(a.groups),
    }  # fmt: skip
    image = rewriter.emit(relax.op.reshape(x, (n, channels, 1, width)), "line")
    padded = _pad(rewriter, image, (0, left, 0, right), 0.0)
    made = rewriter.emit(_convolution(padded, factors[:, :, None], attributes))
    shape = spec_of(call).shape
    return relax.op.reshape(made, shape) if spec_of(made).elements == math.prod(shape) else None


def conv2d_transpose(rewriter: Rewriter, call: Any) -> Any:
    """All phases of the result as channels of one convolution, laid side by side afterwards."""
    a, x, factors = call.attrs, call.args[0], _factors(rewriter, call, "NCHW", "IOHW")
    if factors is None or int(a.groups) != 1:
        return None
    top, left, bottom, right = _sides(a.padding)
    more, size = [int(p) for p in a.output_padding], spec_of(x).shape[2:]
    cut = ((top, bottom - more[0]), (left, right - more[1]))
    rows, columns = (
        Axis(size[n], factors.shape[2 + n], int(a.strides[n]), int(a.dilation[n]), *cut[n]) for n in range(2)
    )
    if any(min(axis.pads) < 0 or axis.result <= 0 for axis in (rows, columns)):
        return None
    n, channels = spec_of(call).shape[:2]
    padded = _pad(rewriter, x, (rows.pads[0], columns.pads[0], rows.pads[1], columns.pads[1]), 0.0)
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


def max_pool2d(rewriter: Rewriter, call: Any) -> Any:
    return _pool(rewriter, call, "max", -math.inf)


def avg_pool2d(rewriter: Rewriter, call: Any) -> Any:
    if any(_sides(call.attrs.padding)) and not bool(call.attrs.count_include_pad):
        return None
    return _pool(rewriter, call, "avg", 0.0)


def _pool(rewriter: Rewriter, call: Any, kind: str, fill: float) -> Any:
    a, x = call.attrs, call.args[0]
    layouts = (str(a.layout), str(a.out_layout) or str(a.layout))
    if spec_of(x).dtype != "float32" or layouts != ("NCHW", "NCHW"):
        return None
    attributes = {**_window(a), "kind": kind, "kernel": [int(k) for k in a.pool_size]}
    top, left, bottom, right = _sides(a.padding)
    n, channels, height, width = spec_of(x).shape
    size = TensorSpec((n, channels, height + top + bottom, width + left + right), "float32")
    # Windows that reach beyond the padding (a size rounded up) are another operator.
    if qnn.OPERATORS["float_pool"].infer(attributes, [size]).shape != spec_of(call).shape:
        return None
    return qnn.emit("float_pool", [_pad(rewriter, x, (top, left, bottom, right), fill)], attributes)


def _convolution(x: Any, filters: np.ndarray, attributes: dict[str, Any]) -> Any:
    """The layer wants filters last."""
    weight = relax.const(np.ascontiguousarray(filters.transpose(1, 2, 3, 0)))
    return qnn.emit("float_conv2d", [x, weight], attributes)


def _factors(rewriter: Rewriter, call: Any, layout: str, kernel_layout: str) -> np.ndarray | None:
    """Constant weights of a convolution in these layouts, as floats; integers would be converted by a kernel every
    time."""
    a, weight = call.attrs, call.args[1]
    layouts = (str(a.data_layout), str(a.kernel_layout), str(a.out_layout) or str(a.data_layout))
    if layouts != (layout, kernel_layout, layout) or spec_of(call).dtype != "float32":
        return None
    made = rewriter.definition(weight)
    if not qnn.is_qnn(made, "dequantize"):
        return constant(weight)
    held = [constant(a) for a in made.args]
    if any(array is None for array in held):
        return None
    return np.asarray(qnn.OPERATORS["dequantize"].reference(qnn.attributes(made), held))


def _window(a: Any) -> dict[str, Any]:
    return {"strides": [int(s) for s in a.strides], "dilation": [int(d) for d in a.dilation]}


def _sides(padding: Any) -> tuple[int, int, int, int]:
    """Top, left, bottom, right."""
    given = [int(p) for p in padding]
    top, left, bottom, right = given * (4 // len(given))
    return top, left, bottom, right


def _pad(rewriter: Rewriter, x: Any, sides: tuple[int, int, int, int], fill: float) -> Any:
    top, left, bottom, right = sides
    if not any(sides):
        return x
    attributes = {"before": [0, 0, top, left], "after": [0, 0, bottom, right], "value": fill}
    return rewriter.emit(qnn.emit("pad", [x], attributes))


CONVERTERS = {
    "relax.nn.conv1d": conv1d,
    "relax.nn.conv2d": conv2d,
    "relax.nn.conv2d_transpose": conv2d_transpose,
    "relax.nn.max_pool2d": max_pool2d,
    "relax.nn.avg_pool2d": avg_pool2d,
}
