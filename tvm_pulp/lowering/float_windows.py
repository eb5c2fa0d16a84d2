"""Convolutions and pools of floats as layers of the dialect; padding becomes a layer before them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.tensor_spec import TensorSpec


def conv2d(rewriter: Rewriter, call: Any) -> Any:
    a, (x, weight) = call.attrs, call.args
    factors = constant(weight)
    layouts = (str(a.data_layout), str(a.kernel_layout), str(a.out_layout) or str(a.data_layout))
    if factors is None or layouts != ("NCHW", "OIHW", "NCHW") or spec_of(call).dtype != "float32":
        return None
    attributes = {**_window(a), "groups": int(a.groups)}
    padded = _pad(rewriter, x, _sides(a.padding), 0.0)
    turned = relax.const(np.ascontiguousarray(factors.transpose(1, 2, 3, 0)))
    return _same_shape(qnn.emit("float_conv2d", [padded, turned], attributes), call, "float_conv2d")


def conv1d(rewriter: Rewriter, call: Any) -> Any:
    """Lines are images of one row."""
    a, (x, weight) = call.attrs, call.args
    factors = constant(weight)
    layouts = (str(a.data_layout), str(a.kernel_layout), str(a.out_layout) or str(a.data_layout))
    if factors is None or layouts != ("NCW", "OIW", "NCW") or spec_of(call).dtype != "float32":
        return None
    n, channels, width = spec_of(x).shape
    left, right = ([int(p) for p in a.padding] * 2)[:2]
    attributes = {
        "strides": [1, int(a.strides[0])], "dilation": [1, int(a.dilation[0])], "groups": int(a.groups),
    }  # fmt: skip
    image = rewriter.emit(relax.op.reshape(x, (n, channels, 1, width)), "line")
    padded = _pad(rewriter, image, (0, left, 0, right), 0.0)
    turned = relax.const(np.ascontiguousarray(factors[:, :, None].transpose(1, 2, 3, 0)))
    made = rewriter.emit(qnn.emit("float_conv2d", [padded, turned], attributes))
    shape = spec_of(call).shape
    return relax.op.reshape(made, shape) if spec_of(made).elements == math.prod(shape) else None


def conv2d_transpose(rewriter: Rewriter, call: Any) -> Any:
    """A convolution of the input with zeros between its pixels, the kernel turned round."""
    a, (x, weight) = call.attrs, call.args
    factors = constant(weight)
    layouts = (str(a.data_layout), str(a.kernel_layout), str(a.out_layout) or str(a.data_layout))
    if factors is None or layouts != ("NCHW", "IOHW", "NCHW") or int(a.groups) != 1:
        return None
    dilation, strides = [int(d) for d in a.dilation], [int(s) for s in a.strides]
    more = [int(p) for p in a.output_padding]
    reach = [(k - 1) * d for k, d in zip(factors.shape[2:], dilation, strict=True)]
    top, left, bottom, right = _sides(a.padding)
    sides = (reach[0] - top, reach[1] - left, reach[0] - bottom + more[0], reach[1] - right + more[1])
    if min(sides) < 0 or spec_of(call).dtype != "float32":
        return None
    if strides != [1, 1]:
        x = rewriter.emit(qnn.emit("dilate", [x], {"strides": [1, 1, *strides], "value": 0}), "spread")
    padded = _pad(rewriter, x, sides, 0.0)
    turned = relax.const(np.ascontiguousarray(factors[:, :, ::-1, ::-1].transpose(0, 2, 3, 1)))
    attributes = {"strides": [1, 1], "dilation": dilation, "groups": 1}
    return _same_shape(qnn.emit("float_conv2d", [padded, turned], attributes), call, "float_conv2d")


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


def _same_shape(made: Any, call: Any, operator: str) -> Any:
    specs = [spec_of(a) for a in made.args]
    found = qnn.OPERATORS[operator].infer(qnn.attributes(made), specs)
    return made if found.shape == spec_of(call).shape else None


CONVERTERS = {
    "relax.nn.conv1d": conv1d,
    "relax.nn.conv2d": conv2d,
    "relax.nn.conv2d_transpose": conv2d_transpose,
    "relax.nn.max_pool2d": max_pool2d,
    "relax.nn.avg_pool2d": avg_pool2d,
}
