"""Convolutions and matrix products of a quantize/dequantize graph."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.finer_bias import FinerBias
from tvm_pulp.canonicalize.near_weights import halves, weights
from tvm_pulp.canonicalize.qdq_accumulators import Summand, joined
from tvm_pulp.canonicalize.qdq_movement import steps
from tvm_pulp.canonicalize.qdq_rewriter import (
    Accumulators,
    IntegerTarget,
    QdqRewriter,
    QuantizedConstant,
    QuantizedTensor,
)
from tvm_pulp.canonicalize.rewriter import needed, or_none, require
from tvm_pulp.qnn.fixed_point import WIDE_SUM
from tvm_pulp.qnn.requant import weighted_reach

LayerTarget = IntegerTarget | Accumulators

# Axis order that brings a kernel layout to OHWI or OIHW. Depthwise kernels of one input channel per group keep their
# order: HWOI.
_KERNELS = {"HWIO": (3, 0, 1, 2), "HWOI": (2, 0, 1, 3), "OIHW": (0, 1, 2, 3), "OHWI": (0, 1, 2, 3)}


@dataclass(frozen=True)
class Convolution:
    """Operands and geometry of a convolution; `axes` is the rank of the original result, which the bias was added to.

    The filters hold all output channels `copies` times, one copy after the other; the bias has them once.
    """

    x: QuantizedTensor
    weight: QuantizedConstant
    geometry: dict[str, Any]
    bias: Any
    axes: int = 4
    copies: int = 1

    @property
    def channel_axis(self) -> int:
        return 3 if self.geometry["layout"] == "NHWC" else 1


@or_none
def conv(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    """quantize(conv(dequantize(x), dequantize(w)) + bias), per tensor or per output channel, along one axis or two."""
    layout, kernel_layout = str(call.attrs.data_layout), str(call.attrs.kernel_layout)
    is_line = (layout, kernel_layout) == ("NCW", "OIW")
    require(is_line or (layout in ("NHWC", "NCHW") and kernel_layout in _KERNELS))
    x = needed(fold.quantized(call.args[0]))
    weight = needed(weights(fold, call.args[1], kernel_layout.index("O")))
    geometry = {**steps(call), "layout": layout, "groups": int(call.attrs.groups)}
    if is_line:
        layer = line_layer(fold, x, weight, geometry, bias)
        return fold.shaped_like(call, convolution(fold, layer, target))
    weight = weight.rearranged(lambda a: a.transpose(_KERNELS[kernel_layout]))
    return convolution(fold, Convolution(x, weight, geometry, bias), target)


def line_layer(
    fold: QdqRewriter, x: QuantizedTensor, weight: QuantizedConstant, geometry: dict[str, Any], bias: Any
) -> Convolution:
    """A convolution along one axis as one of an image of one row."""
    filters = weight.rearranged(lambda a: a[:, :, None, :])
    return Convolution(fold.image(x), filters, {**geometry, "layout": "NCHW"}, bias, axes=3)


def convolution(fold: QdqRewriter, layer: Convolution, target: LayerTarget) -> Any:
    """The dialect's convolution; weights that are 16 bits of floats become two."""
    if layer.weight.is_near:
        return _in_halves(fold, layer, target)
    return _weighted(fold, "conv2d", layer, target, axis=layer.channel_axis - layer.axes)


def _weighted(fold: QdqRewriter, operator: str, layer: Convolution, target: LayerTarget, axis: int) -> Any:
    """A layer with constant weights, whose bias has its channels along a (negative) axis."""
    x, weight = layer.x, layer.weight
    scales = needed(weight.channel_scales())
    once = scales[: scales.size // layer.copies]
    bias = [np.tile(t, layer.copies) for t in _bias(fold, layer.bias, x, once, axis)]
    reach = weighted_reach(weight.centred, x.reach, *bias)
    finer = _finer_bias(fold, layer, target, scales)
    if finer is not None:
        rule, constants, bias = finer
    elif isinstance(target, Accumulators):
        rule, constants = target.take(np.float64(x.scale) * once.astype(np.float64), reach, axis)
    else:
        rounded = fold.arithmetic.dense if operator == "dense" else fold.arithmetic.layer
        rule, constants = rounded(x, scales, target)
    attributes = {**_sums(rule, reach, x), **layer.geometry, "zero_point": x.zero_point, "has_bias": len(bias)}
    return qnn.emit(operator, [x.value, weight.centred, *bias, *constants], attributes)


def _finer_bias(fold: QdqRewriter, layer: Convolution, target: LayerTarget, scales: np.ndarray) -> FinerBias | None:
    """A bias that is no integers of the accumulator; sums of 16-bit activations may need more than 32 bits."""
    x = layer.x
    if layer.bias is None or isinstance(target, Accumulators) or x.dtype not in qnn.BYTES:
        return None
    held = fold.quantized_constant(layer.bias)
    once = scales[: scales.size // layer.copies]
    if held is not None:
        flat = held.rearranged(lambda a: np.broadcast_to(a.reshape(-1), once.shape))
        if fold.arithmetic.is_stored(flat, np.float64(x.scale) * once.astype(np.float64)):
            return None
    real = np.broadcast_to(needed(fold.real_constant(layer.bias)).reshape(-1), once.shape)
    weights, distances = layer.weight.centred.astype(np.int64).reshape(scales.size, -1), x.every_distance
    products = [weights * int(end) for end in (distances.min(), distances.max())]
    ends = np.array([np.minimum(*products).sum(axis=1), np.maximum(*products).sum(axis=1)])
    return fold.arithmetic.float_bias(x, scales, np.tile(real, layer.copies), target, ends)


def _in_halves(fold: QdqRewriter, layer: Convolution, target: LayerTarget) -> Any:
    """16-bit weights as two convolutions of 8-bit weights; only the first counts as work of the model."""
    require(layer.x.dtype in qnn.BYTES and not (isinstance(target, Accumulators) and not target.may_be_real))
    summands = []
    for half, extra, bias in zip(halves(layer.weight), ({}, {"macs_per_output": 0}), (None, layer.bias), strict=True):
        taken = Accumulators()
        part = replace(layer, weight=half, geometry={**layer.geometry, **extra}, bias=bias)
        value = fold.bound(convolution(fold, part, taken))
        summands.append(Summand(value, np.tile(taken.units, layer.copies), taken.reach, None))
    if not isinstance(target, Accumulators):
        return needed(joined(summands, target, axis=layer.channel_axis))
    units = summands[1].units[: summands[1].units.size // layer.copies]
    target.take(units, 256 * summands[0].reach + summands[1].reach)
    upper, lower = (fold.emit(relax.op.astype(s.value, "float32")) for s in summands)
    return relax.op.add(fold.emit(relax.op.multiply(upper, relax.const(np.float32(256)))), lower)


@or_none
def matmul(fold: QdqRewriter, call: Any, target: LayerTarget, bias: Any = None) -> Any:
    """A product with constant weights is a dense layer; of two activations, a matmul."""
    x, weight = needed(fold.quantized(call.args[0])), fold.quantized_constant(call.args[1])
    require(len(x.shape) >= 2)
    if weight is not None and weight.values.ndim == 2:
        return _weighted(fold, "dense", Convolution(x, weight.rearranged(np.transpose), {}, bias), target, axis=-1)
    require(bias is None)
    return _activations(fold, x, needed(fold.quantized(call.args[1])), target)


def _activations(fold: QdqRewriter, a: QuantizedTensor, b: QuantizedTensor, target: LayerTarget) -> Any:
    require(len(b.shape) >= 2)
    reach = a.reach * b.reach * a.shape[-1]
    if isinstance(target, Accumulators):
        rule, constants = target.take(np.array([float(a.scale) * float(b.scale)]), reach)
    else:
        rule, constants = fold.arithmetic.layer(a, np.array([b.scale]), target)
    sums = _sums(rule, reach, a)
    attributes = {**sums, "zero_point_a": a.zero_point, "zero_point_b": b.zero_point, "transpose_b": 0}
    return qnn.emit("matmul", [a.value, b.value, *constants], attributes)


def _sums(rule: qnn.Requant, reach: int, x: QuantizedTensor) -> dict[str, Any]:
    """Attributes of a rule for accumulators up to `reach`: 32 bits, or 64 for 16-bit activations."""
    if reach < 1 << 31:
        return rule.attributes()
    require(rule.kind != "none" and reach < WIDE_SUM and x.dtype in ("int16", "uint16"))
    # So long a sum was rounded many times where it was computed in floats: how ties go does not matter.
    return {**replace(rule, kind="half_up").attributes(), "sum_bits": 64}


def _bias(fold: QdqRewriter, bias: Any, x: QuantizedTensor, scales: np.ndarray, axis: int) -> list[np.ndarray]:
    """The bias as 32-bit integers in units of the accumulator, as a list of no or one tensor."""
    if bias is None:
        return []
    real, held = needed(fold.real_constant(bias)), fold.quantized_constant(bias)
    # One value, or one per channel along the axis.
    require(real.size == 1 or (real.ndim >= -axis and real.shape[axis] == scales.size == real.size))
    flat = None if held is None else held.rearranged(lambda a: np.broadcast_to(a.reshape(-1), scales.shape))
    unit = np.float64(x.scale) * scales.astype(np.float64)
    values = needed(fold.arithmetic.bias(np.broadcast_to(real.reshape(-1), scales.shape), flat, unit))
    require(np.abs(values).max(initial=0) < 1 << 31)
    return [values.astype(np.int32)]
