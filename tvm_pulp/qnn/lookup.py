"""Element-wise function of 8-bit integers, as a table of its 256 results. Operands: x, table[256].

The first entry belongs to the smallest value of x's type.
"""

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, i32, less, register
from tvm_pulp.qnn.record import NoAttributes
from tvm_pulp.qnn.tensor_spec import looked_up
from tvm_pulp.qnn.tiles import BY_ELEMENT


@register("lookup", operands="x table", tile=BY_ELEMENT, result="table")
class Lookup(Operator[NoAttributes]):
    def reference(self, attributes: NoAttributes, inputs: Arrays) -> np.ndarray:
        return looked_up(inputs[1], inputs[0])

    def body(self, loops: Loops, attributes: NoAttributes, inputs: Specs, output: TensorSpec) -> None:
        x, table, y = loops.buffers("x table y", (inputs[0].flat, inputs[1], output.flat))
        with over(loops, output.flat.shape) as (place,):
            loops.store(y, [place], table[less(i32(x[place]), inputs[0].range[0])])
