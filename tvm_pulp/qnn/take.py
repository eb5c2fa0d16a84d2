"""Entries of one axis by numbers that are known at run time only. Operands: x, indices.

Numbers below zero count from the end where `from_end` says so; then all are brought into range.
"""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register

INDEX_TYPES = ("int32", "int64")


@register("take", attributes="axis from_end")
class Take(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        shape, axis = inputs[0].shape, attributes["axis"]
        return TensorSpec((*shape[:axis], *inputs[1].shape, *shape[axis + 1 :]), inputs[0].dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, indices, axis = *inputs, attributes["axis"]
        if attributes["from_end"]:
            indices = np.where(indices < 0, indices + x.shape[axis], indices)
        # Not `ascontiguousarray`, which makes a vector of a scalar.
        return np.array(np.take(x, np.clip(indices, 0, x.shape[axis] - 1), axis=axis), order="C")

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        axis, rank = attributes["axis"], len(inputs[1].shape)
        x, indices, y = loops.buffers("x indices y", (*inputs, output))
        dtype, extent = inputs[1].dtype, inputs[0].shape[axis]
        zero, last, every = (tirx.const(n, dtype) for n in (0, extent - 1, extent))
        with over(loops, output.shape) as place:
            given = loops.bind("given", indices[tuple(place[axis : axis + rank]) or (i32(0),)])
            if attributes["from_end"]:
                given = loops.bind("counted", tirx.Select(given < zero, given + every, given))
            entry = loops.bind("entry", i32(tirx.max(zero, tirx.min(given, last))))
            loops.store(y, place, x[(*place[:axis], entry, *place[axis + rank :])])
