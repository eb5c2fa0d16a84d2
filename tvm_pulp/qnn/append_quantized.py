"""Floats as integers with integers behind them along an axis: a cache of floats and its new rows.

Operands: x, scale, 1 / scale, zero_point as in `quantize`, of one element each; then a tensor that holds what is
appended, a whole part of it from element `first` on, in shape `appended`; then, with `has_table`, a table[256] through
which that is looked up, as in `concat`.
"""

import math

import numpy as np

from tvm_pulp.qnn.broadcast import unravel
from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.quantize import along_axis, quantized, quantizing
from tvm_pulp.qnn.tensor_spec import looked_up


@register("append_quantized", attributes="appended axis dtype first has_table")
class AppendQuantized(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        shape, axis = list(inputs[0].shape), attributes["axis"]
        shape[axis] += attributes["appended"][axis]
        return TensorSpec(tuple(shape), attributes["dtype"])

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, scale, _, zero_point = along_axis(inputs[:4], 0)
        shape, first = attributes["appended"], attributes["first"]
        more = inputs[4].reshape(-1)[first : first + math.prod(shape)].reshape(shape)
        if attributes["has_table"]:
            more = looked_up(inputs[5], more)
        return np.concatenate([quantized(x, scale, zero_point, attributes["dtype"]), more], axis=attributes["axis"])

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        axis, shape = attributes["axis"], attributes["appended"]
        x = loops.buffer("x", inputs[0])
        names = ("scale", "reciprocal", "zero")
        parameters = [loops.buffer(n, TensorSpec((1,), s.dtype)) for n, s in zip(names, inputs[1:4], strict=True)]
        more = loops.buffer("more", TensorSpec((inputs[4].elements,), inputs[4].dtype))
        table = loops.buffer("table", inputs[5]) if attributes["has_table"] else None
        y = loops.buffer("y", output)
        element = quantizing(loops, [loops.bind(n, p[0]) for n, p in zip(names, parameters, strict=True)], output)
        with over(loops, inputs[0].shape) as indices:
            loops.store(y, indices, element(x[tuple(indices)]))
        with loops.parallel("place", math.prod(shape)) as place:
            indices = list(unravel(place, shape))
            indices[axis] = indices[axis] + inputs[0].shape[axis]
            value = more[place + attributes["first"]]
            if table is not None:
                value = table[i32(value) - inputs[4].range[0]]
            loops.store(y, indices, value)
