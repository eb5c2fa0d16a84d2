"""Convolutions and matrix products of a quantize/dequantize graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.accumulators import Accumulators, accumulator_reach
from tvm_pulp.canonicalize.near_weights import halves, weights
from tvm_pulp.canonicalize.qdq_accumulators import Summand, joined
from tvm_pulp.canonicalize.qdq_operands import IntegerTarget, Quantized, QuantizedConstant
from tvm_pulp.qnn.fixed_point import WIDE_SUM
from tvm_pulp.qnn.operator import spec_of
from tvm_pulp.qnn.requant import Requant

if TYPE_CHECKING:
    from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter

LayerTarget = IntegerTarget | Accumulators

# Axis order that brings a kernel layout to OHWI or OIHW. Depthwise kernels of one input channel per group keep their
# order: HWOI.
_KERNELS = {"HWIO": (3, 0, 1, 2), "HWOI": (2, 0, 1, 3), "OIHW": (0, 1, 2, 3), "OHWI": (0, 1, 2, 3)}


def conv2d(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    """quantize(conv2d(dequantize(x), dequantize(w)) + bias), per tensor or per output channel."""
    layout, kernel_layout = str(call.attrs.data_layout), str(call.attrs.kernel_layout)
    if layout not in ("NHWC", "NCHW") or kernel_layout not in _KERNELS:
        return None
    x, weight = fold.operands.quantized(call.args[0]), weights(fold, call.args[1], kernel_layout.index("O"))
    if x is None or weight is None:
        return None
    weight = weight.rearranged(lambda a: a.transpose(_KERNELS[kernel_layout]))
    pads = [int(p) for p in call.attrs.padding]
    geometry = {
        "layout": layout,
        "strides": [int(s) for s in call.attrs.strides],
        "dilation": [int(d) for d in call.attrs.dilation],
        "pads": pads if len(pads) == 4 else [*pads, *pads],
        "groups": int(call.attrs.groups),
    }
    return convolution(fold, x, weight, geometry, target, bias)


def conv1d(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    """One spatial axis: the other has size one."""
    x, weight = fold.operands.quantized(call.args[0]), weights(fold, call.args[1], axis=0)
    if x is None or weight is None or (str(call.attrs.data_layout), str(call.attrs.kernel_layout)) != ("NCW", "OIW"):
        return None
    n, c, length = x.shape
    pads = [int(p) for p in call.attrs.padding]
    geometry = {
        "layout": "NCHW",
        "strides": [1, int(call.attrs.strides[0])],
        "dilation": [1, int(call.attrs.dilation[0])],
        "pads": [0, pads[0], 0, pads[-1]],
        "groups": int(call.attrs.groups),
    }
    flat = Quantized(fold.emit(relax.op.reshape(x.value, (n, c, 1, length))), x.scale, x.zero_point)
    result = convolution(fold, flat, weight.rearranged(lambda a: a[:, :, None, :]), geometry, target, bias, axes=3)
    return None if result is None else relax.op.reshape(fold.emit(result), spec_of(call).shape)


def convolution(
    fold: QdqRewriter,
    x: Quantized,
    weight: QuantizedConstant,
    geometry: dict[str, Any],
    target: LayerTarget,
    bias: Any,
    axes: int = 4,
    copies: int = 1,
) -> Any:
    """The dialect's convolution; `axes` is the rank of the original result, which the bias was added to.

    The filters hold all output channels `copies` times, one copy after the other; the bias has them once.
    """
    if weight.is_near:
        return _in_halves(fold, x, weight, geometry, target, bias, axes, copies)
    weight = weight.rearranged(np.ascontiguousarray)
    scales = weight.channel_scales()
    if scales is None:
        return None
    once = scales[: scales.size // copies]
    tensors = _bias(fold, bias, x, once, (3 if geometry["layout"] == "NHWC" else 1) - axes)
    tensors = None if tensors is None else [np.tile(t, copies) for t in tensors]
    if tensors is None:
        return None
    reach = accumulator_reach(x, weight, tensors)
    if isinstance(target, Accumulators):
        rule, constants = target.take(x, weight, once, tensors)
    else:
        rule, constants = fold.arithmetic.layer(x, scales, target)
    sums = _sums(rule, reach, x)
    if sums is None:
        return None
    attributes = {**sums, **geometry, "zero_point": x.zero_point, "has_bias": len(tensors)}
    arguments = [relax.const(t) for t in (weight.centred, *tensors, *constants)]
    return qnn.emit("conv2d", [x.value, *arguments], attributes)


def _in_halves(
    fold: QdqRewriter,
    x: Quantized,
    weight: QuantizedConstant,
    geometry: dict[str, Any],
    target: LayerTarget,
    bias: Any,
    axes: int,
    copies: int,
) -> Any:
    """16-bit weights as two convolutions of 8-bit weights; only the first counts as work of the model."""
    if x.dtype not in ("int8", "uint8") or (isinstance(target, Accumulators) and not target.may_be_real):
        return None
    summands = []
    for half, extra, added in zip(halves(weight), ({}, {"macs_per_output": 0}), (None, bias), strict=True):
        taken = Accumulators()
        layer = convolution(fold, x, half, {**geometry, **extra}, taken, added, axes, copies)
        if layer is None:
            return None
        summands.append(Summand(fold.bound(layer), np.tile(taken.units, copies), taken.reach, None))
    if not isinstance(target, Accumulators):
        return joined(summands, target, axis=3 if geometry["layout"] == "NHWC" else 1)
    target.units = summands[1].units[: summands[1].units.size // copies]
    target.reach = 256 * summands[0].reach + summands[1].reach
    upper, lower = (fold.emit(relax.op.astype(s.value, "float32")) for s in summands)
    return relax.op.add(fold.emit(relax.op.multiply(upper, relax.const(np.float32(256)))), lower)


def matmul(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    """A product with constant weights is a dense layer; of two activations, a matmul."""
    x, weight = fold.operands.quantized(call.args[0]), fold.operands.quantized_constant(call.args[1])
    if x is None or len(x.shape) < 2:
        return None
    if weight is None or weight.values.ndim != 2:
        return _activations(fold, call, x, target) if bias is None else None
    weight = weight.rearranged(lambda a: np.ascontiguousarray(a.T))
    scales = weight.channel_scales()
    if scales is None:
        return None
    tensors = _bias(fold, bias, x, scales, -1)
    if tensors is None:
        return None
    reach = accumulator_reach(x, weight, tensors)
    if isinstance(target, Accumulators):
        rule, constants = target.take(x, weight, scales, tensors)
    else:
        rule, constants = fold.arithmetic.dense(x, scales, target)
    sums = _sums(rule, reach, x)
    if sums is None:
        return None
    attributes = {**sums, "zero_point": x.zero_point, "has_bias": len(tensors)}
    arguments = [relax.const(t) for t in (weight.centred, *tensors, *constants)]
    return qnn.emit("dense", [x.value, *arguments], attributes)


def _activations(fold: QdqRewriter, call: Any, a: Quantized, target: LayerTarget) -> Any:
    b = fold.operands.quantized(call.args[1])
    if b is None or len(b.shape) < 2:
        return None
    if isinstance(target, Accumulators):
        rule, constants = target.take_products(a, b, a.shape[-1])
    else:
        rule, constants = fold.arithmetic.layer(a, np.array([b.scale]), target)
    sums = _sums(rule, a.reach * b.reach * a.shape[-1], a)
    if sums is None:
        return None
    attributes = {
        **sums,
        "zero_point_a": a.zero_point,
        "zero_point_b": b.zero_point,
        "transpose_b": 0,
    }
    return qnn.emit("matmul", [a.value, b.value, *(relax.const(c) for c in constants)], attributes)


def _sums(rule: Requant, reach: int, x: Quantized) -> dict[str, Any] | None:
    """Attributes of a rule for accumulators up to `reach`: 32 bits, or 64 for 16-bit activations; None beyond."""
    if reach < 1 << 31:
        return rule.attributes()
    if rule.kind == "none" or reach >= WIDE_SUM or x.dtype not in ("int16", "uint16"):
        return None
    # So long a sum was rounded many times where it was computed in floats: how ties go does not matter.
    return {**replace(rule, kind="half_up").attributes(), "sum_bits": 64}


def _bias(fold: QdqRewriter, bias: Any, x: Quantized, scales: np.ndarray, axis: int) -> list[np.ndarray] | None:
    """The bias as 32-bit integers in units of the accumulator, as a list of no or one tensor; None if impossible."""
    if bias is None:
        return []
    real, held = fold.operands.real_constant(bias), fold.operands.quantized_constant(bias)
    if real is None or not _along(real, axis, scales.size):
        return None
    flat = None if held is None else held.rearranged(lambda a: np.broadcast_to(a.reshape(-1), scales.shape))
    unit = np.float64(x.scale) * scales.astype(np.float64)
    values = fold.arithmetic.bias(np.broadcast_to(real.reshape(-1), scales.shape), flat, unit)
    if values is None or np.abs(values).max(initial=0) >= 1 << 31:
        return None
    return [values.astype(np.int32)]


def _along(array: np.ndarray, axis: int, channels: int) -> bool:
    """Whether an array holds one value, or one per channel along the given (negative) axis."""
    if array.size == 1:
        return True
    return array.ndim >= -axis and array.shape[axis] == channels == array.size
