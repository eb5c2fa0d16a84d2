"""Floats as integers and integers as floats; pictures with their channels moved, caches with new rows behind."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.axis_loops import over_axis
from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.loops import unravel
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.requant import along
from tvm_pulp.qnn.tensor_spec import RANGES, looked_up
from tvm_pulp.qnn.tiles import Box, Part, TileRule, Whole, all_axes, constants, elementwise
from tvm_pulp.quick_records import changed, quick_record

# How close to the middle between two integers the product with the reciprocal decides, in parts of the scale.
_UNSURE = {8: 2.0**-10, 16: 2.0**-6}
TYPES = ("int8", "uint8", "int16", "uint16")
TYPES_AS_FLOATS = (*TYPES, "int32")
_PARAMETERS = "scale reciprocal zero"


@quick_record(kw_only=True, slots=False)
class QuantizeAttributes(Attributes):
    """Parameters of several values run along `axis`."""

    axis: int
    dtype: str


@register("quantize", attributes=QuantizeAttributes, operands="x scale inverse_scale zero_point", tile=elementwise(1))
class Quantize(Operator[QuantizeAttributes]):
    """Floats as integers: clip(round_half_even(x / scale) + zero_point), the quotient a rounded float32.

    Operands: x, scale, 1 / scale, zero_point: each one element, or one per entry of `axis`. What is not a number
    becomes the smallest integer, as it does in onnxruntime. The reciprocal is an operand because the cores divide
    slowly.
    """

    def reference(self, attributes: QuantizeAttributes, inputs: Arrays) -> np.ndarray:
        x, scale, _, zero_point = along_axis(inputs, attributes.axis)
        return quantized(x, scale, zero_point, attributes.dtype)

    def body(self, loops: Loops, attributes: QuantizeAttributes, inputs: Specs, output: TensorSpec) -> None:

        def element(parameters: Sequence[Any]) -> Callable[[Any], Any]:
            return quantizing(loops, parameters, output)

        over_axis(loops, attributes.axis, _PARAMETERS, inputs, output, element)


def quantizing(loops: Loops, parameters: Sequence[Any], output: TensorSpec) -> Callable[[Any], Any]:
    """A function that makes an integer of a float, by scale, reciprocal and zero point."""
    low, high = output.range
    scale, reciprocal, zero = (loops.bind(n, p) for n, p in zip(_PARAMETERS.split(), parameters, strict=True))
    sure = loops.bind("sure", scale * tirx.const(sure_share(output.dtype), "float32"))
    zero_point = loops.bind("zero_point", i32(zero))

    def element(x: Any) -> Any:
        return call("quantize", x, scale, reciprocal, sure, zero_point, low, high).astype(output.dtype)

    return element


def quantized(x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, dtype: str) -> np.ndarray:
    """The definition, in numpy."""
    low, high = RANGES[dtype]
    with np.errstate(all="ignore"):
        quotient = (x / scale).astype(np.float32)
    whole = np.rint(np.clip(quotient.astype(np.float64), -(2.0**24), 2.0**24))
    value = np.where(np.isnan(whole), low, np.clip(whole + zero_point.astype(np.float64), low, high))
    return np.asarray(value.astype(dtype))


def sure_share(dtype: str) -> float:
    """Part of the scale within which the product with the reciprocal decides: a little less than half."""
    return 0.5 - _UNSURE[np.dtype(dtype).itemsize * 8]


def along_axis(inputs: Arrays, axis: int) -> list[np.ndarray]:
    """The operands after the first, shaped so that numpy lets them follow an axis of the first."""
    return [inputs[0], *(along(v, axis, max(1, inputs[0].ndim)) for v in inputs[1:])]


@quick_record(kw_only=True, slots=False)
class DequantizeAttributes(Attributes):
    """Parameters of several values run along `axis`."""

    axis: int


@register(
    "dequantize", attributes=DequantizeAttributes, operands="x scale zero_point", tile=elementwise(1), result="float32"
)
class Dequantize(Operator[DequantizeAttributes]):
    """Integers as floats: (x - zero_point) * scale.

    Operands: x, scale, zero_point: scale and zero point hold one element each, or one per entry of `axis`.
    """

    def reference(self, attributes: DequantizeAttributes, inputs: Arrays) -> np.ndarray:
        x, scale, zero_point = along_axis(inputs, attributes.axis)
        difference = (x.astype(np.int64) - zero_point.astype(np.int64)).astype(np.int32)
        return np.asarray(difference.astype(np.float32) * scale.astype(np.float32))

    def body(self, loops: Loops, attributes: DequantizeAttributes, inputs: Specs, output: TensorSpec) -> None:

        def element(parameters: Sequence[Any]) -> Callable[[Any], Any]:
            scale, zero = parameters
            return lambda x: (i32(x) - i32(zero)).astype("float32") * scale

        over_axis(loops, attributes.axis, "scale zero", inputs, output, element)


def _planes(whole: Whole, box: Box) -> Part:
    first, end = box.start[-1], box.start[-1] + box.size[-1]
    planes = whole.inputs[0].shape[1]
    taken = min(first, planes - 1)
    start = (box.start[0], taken, *box.start[1:-1])
    size = (box.size[0], min(end, planes) - taken, *box.size[1:-1])
    parts = (Box(start, size), *constants(whole.inputs[1:], None))
    return Part(parts, changed(QuantizeChannelsLastAttributes.of(whole), channels=box.size[-1]))


@quick_record(kw_only=True, slots=False)
class QuantizeChannelsLastAttributes(Attributes):
    """Channels of the result, those that are filled up among them."""

    channels: int
    dtype: str


@register("quantize_channels_last", attributes=QuantizeChannelsLastAttributes, tile=TileRule(all_axes, _planes))
class QuantizeChannelsLast(Operator[QuantizeChannelsLastAttributes]):
    """Floats as integers, the second axis moved behind all others: what a picture of a framework becomes at once.

    Operands: x, scale, 1 / scale, zero_point, each of the last three one element; all as in `quantize`. `channels` that
    x does not have hold the last one that it has, so that pixels may be whole words.
    """

    def infer(self, attributes: QuantizeChannelsLastAttributes, inputs: Specs) -> TensorSpec:
        shape = inputs[0].shape
        return TensorSpec((shape[0], *shape[2:], attributes.channels), attributes.dtype)

    def reference(self, attributes: QuantizeChannelsLastAttributes, inputs: Arrays) -> np.ndarray:
        x, scale, _, zero_point = along_axis(inputs, 0)
        pixels = np.moveaxis(quantized(x, scale, zero_point, attributes.dtype), 1, -1)
        more = attributes.channels - pixels.shape[-1]
        return np.ascontiguousarray(np.pad(pixels, [(0, 0)] * (pixels.ndim - 1) + [(0, more)], mode="edge"))

    def body(self, loops: Loops, attributes: QuantizeChannelsLastAttributes, inputs: Specs, output: TensorSpec) -> None:
        x, planes = loops.buffer("x", inputs[0]), inputs[0].shape[1]
        parameters = loops.buffers(_PARAMETERS, (s.flat for s in inputs[1:]))
        y = loops.buffer("y", output)
        element = quantizing(loops, [p[0] for p in parameters], output)
        with over(loops, output.shape) as indices:
            plane = indices[-1] if output.shape[-1] == planes else tirx.min(indices[-1], planes - 1)
            loops.store(y, indices, element(x[(indices[0], plane, *indices[1:-1])]))


@quick_record(kw_only=True, slots=False)
class AppendQuantizedAttributes(Attributes):
    """The shape of what is appended, and where it begins in its operand."""

    appended: tuple[int, ...]
    axis: int
    dtype: str
    first: int
    has_table: bool


@register("append_quantized", attributes=AppendQuantizedAttributes)
class AppendQuantized(Operator[AppendQuantizedAttributes]):
    """Floats as integers with integers behind them along an axis: a cache of floats and its new rows.

    Operands: x, scale, 1 / scale, zero_point as in `quantize`, of one element each; then a tensor that holds what is
    appended, a whole part of it from element `first` on, in shape `appended`; then, with `has_table`, a table[256]
    through which that is looked up, as in `concat`.
    """

    def infer(self, attributes: AppendQuantizedAttributes, inputs: Specs) -> TensorSpec:
        shape, axis = list(inputs[0].shape), attributes.axis
        shape[axis] += attributes.appended[axis]
        return TensorSpec(tuple(shape), attributes.dtype)

    def reference(self, attributes: AppendQuantizedAttributes, inputs: Arrays) -> np.ndarray:
        x, scale, _, zero_point = along_axis(inputs[:4], 0)
        shape, first = attributes.appended, attributes.first
        more = inputs[4].reshape(-1)[first : first + math.prod(shape)].reshape(shape)
        if attributes.has_table:
            more = looked_up(inputs[5], more)
        return np.concatenate([quantized(x, scale, zero_point, attributes.dtype), more], axis=attributes.axis)

    def body(self, loops: Loops, attributes: AppendQuantizedAttributes, inputs: Specs, output: TensorSpec) -> None:
        axis, shape = attributes.axis, attributes.appended
        x = loops.buffer("x", inputs[0])
        parameters = loops.buffers(_PARAMETERS, (s.flat for s in inputs[1:4]))
        more = loops.buffer("more", inputs[4].flat)
        table = loops.buffer("table", inputs[5]) if attributes.has_table else None
        y = loops.buffer("y", output)
        element = quantizing(loops, [p[0] for p in parameters], output)
        with over(loops, inputs[0].shape) as indices:
            loops.store(y, indices, element(x[tuple(indices)]))
        with loops.parallel("place", math.prod(shape)) as place:
            indices = unravel(place, shape)
            indices[axis] = indices[axis] + inputs[0].shape[axis]
            value = more[place + attributes.first]
            if table is not None:
                value = table[i32(value) - inputs[4].range[0]]
            loops.store(y, indices, value)
