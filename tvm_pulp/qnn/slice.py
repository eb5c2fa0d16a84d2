"""Strided slice of every axis: `begin`, `stride` and `size` per axis; a stride may be negative."""

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, register


@register("slice", attributes="begin size stride")
class Slice(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(tuple(attributes["size"]), inputs[0].dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        picks = [
            begin + stride * np.arange(size)
            for begin, stride, size in zip(attributes["begin"], attributes["stride"], attributes["size"], strict=True)
        ]
        return inputs[0][np.ix_(*picks)]

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            source = [
                index * stride + begin
                for index, begin, stride in zip(indices, attributes["begin"], attributes["stride"], strict=True)
            ]
            loops.store(y, indices, x[tuple(source)])
