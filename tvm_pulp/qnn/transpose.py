"""Permutation of axes."""

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, register
from tvm_pulp.qnn.tiles import Box, Part, TileRule, Whole, all_axes


def _part(whole: Whole, box: Box) -> Part:
    axes = whole.attributes["axes"]
    places = [axes.index(axis) for axis in range(len(axes))]
    return Part((Box(*(tuple(of[p] for p in places) for of in (box.start, box.size))),), whole.attributes)


@register("transpose", attributes="axes", tile=TileRule(all_axes, _part))
class Transpose(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(tuple(inputs[0].shape[a] for a in attributes["axes"]), inputs[0].dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        return np.ascontiguousarray(inputs[0].transpose(attributes["axes"]))

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        axes = attributes["axes"]
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            source = [indices[axes.index(axis)] for axis in range(len(axes))]
            loops.store(y, indices, x[tuple(source)])
