"""Floats as integers, the second axis moved behind all others: what a picture of a framework becomes at once.

Operands: x, scale, 1 / scale, zero_point, each of the last three one element; all as in `quantize`.
"""

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.quantize import along_axis, quantized, quantizing
from tvm_pulp.qnn.tiles import Box, Part, TileRule, Whole, all_axes, constants


def _part(whole: Whole, box: Box) -> Part:
    start, size = ((of[0], of[-1], *of[1:-1]) for of in (box.start, box.size))
    return Part((Box(start, size), *constants(whole.inputs[1:], None)), whole.attributes)


@register("quantize_channels_last", attributes="dtype", tile=TileRule(all_axes, _part))
class QuantizeChannelsLast(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        shape = inputs[0].shape
        return TensorSpec((shape[0], *shape[2:], shape[1]), attributes["dtype"])

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, scale, _, zero_point = along_axis(inputs, 0)
        return np.ascontiguousarray(np.moveaxis(quantized(x, scale, zero_point, attributes["dtype"]), 1, -1))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        x = loops.buffer("x", inputs[0])
        names = ("scale", "reciprocal", "zero")
        parameters = [loops.buffer(n, TensorSpec((1,), s.dtype)) for n, s in zip(names, inputs[1:], strict=True)]
        y = loops.buffer("y", output)
        element = quantizing(loops, [loops.bind(n, p[0]) for n, p in zip(names, parameters, strict=True)], output)
        with over(loops, output.shape) as indices:
            loops.store(y, indices, element(x[(indices[0], indices[-1], *indices[1:-1])]))
