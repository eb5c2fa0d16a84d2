"""Element-wise function of 8-bit integers, as a table of its 256 results. Operands: x, table[256].

The first entry belongs to the smallest value of x's type.
"""

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.tiles import BY_ELEMENT


@register("lookup", operands="x table", tile=BY_ELEMENT)
class Lookup(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(inputs[0].shape, inputs[1].dtype)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        x, table = inputs
        first = TensorSpec((), str(x.dtype)).range[0]
        return np.asarray(table[x.astype(np.int64) - first])

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        first = inputs[0].range[0]
        flat = TensorSpec((output.elements,), inputs[0].dtype)
        x, table = loops.buffer("x", flat), loops.buffer("table", inputs[1])
        y = loops.buffer("y", TensorSpec(flat.shape, output.dtype))
        with over(loops, flat.shape) as (place,):
            index = i32(x[place])
            loops.store(y, [place], table[index - first if first else index])
