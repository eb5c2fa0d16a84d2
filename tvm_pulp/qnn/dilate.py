"""Spreads a tensor: `strides - 1` copies of `value` between neighbours of each axis, for transposed convolutions."""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register


@register("dilate", attributes="strides value")
class Dilate(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        pairs = zip(inputs[0].shape, attributes["strides"], strict=True)
        return TensorSpec(tuple((d - 1) * s + 1 for d, s in pairs), inputs[0].dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x = inputs[0]
        shape = self.infer(attributes, [TensorSpec(x.shape, str(x.dtype))]).shape
        y = np.full(shape, attributes["value"], x.dtype)
        y[tuple(slice(None, None, s) for s in attributes["strides"])] = x
        return y

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        strides = attributes["strides"]
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            on_grid = [tirx.truncmod(i, i32(s)) == 0 for i, s in zip(indices, strides, strict=True) if s > 1]
            source = [tirx.truncdiv(i, i32(s)) if s > 1 else i for i, s in zip(indices, strides, strict=True)]
            loops.store(y, indices, tirx.const(attributes["value"], output.dtype))
            with loops.when(tirx.all(*on_grid) if on_grid else tirx.const(True, "bool")):
                loops.store(y, indices, x[tuple(source)])
