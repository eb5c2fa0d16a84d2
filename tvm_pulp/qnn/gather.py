"""Selection of constant indices along one axis; `scalar` drops the axis."""

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register


@register("gather", attributes="axis", operands="table indices")
class Gather(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        shape, axis = inputs[0].shape, attributes["axis"]
        return TensorSpec((*shape[:axis], *inputs[1].shape, *shape[axis + 1 :]), inputs[0].dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        return np.take(inputs[0], inputs[1].astype(np.int64), axis=attributes["axis"])

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        axis, rank = attributes["axis"], len(inputs[1].shape)
        x, pick, y = loops.buffer("x", inputs[0]), loops.buffer("indices", inputs[1]), loops.buffer("y", output)
        with over(loops, output.shape) as indices:
            place = i32(pick[tuple(indices[axis : axis + rank]) or (i32(0),)])
            loops.store(y, indices, x[(*indices[:axis], place, *indices[axis + rank :])])
