"""A function of a byte times another tensor, requantized: what gates of feed-forward layers compute.

Operands: a, b of the same shape, table[256], then those of the requantization, one element each. The table's first
entry belongs to the smallest value of a's type.

    y = requantize(table[a] * b)
"""

import numpy as np

from tvm_pulp.qnn.elementwise import over
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Requant, Specs, TensorSpec, i32, less, register
from tvm_pulp.qnn.record import Requantized
from tvm_pulp.qnn.tensor_spec import looked_up
from tvm_pulp.qnn.tiles import PAIRS_BY_ELEMENT


@register("gate", attributes=Requantized, operands="a b table", tile=PAIRS_BY_ELEMENT)
class Gate(Operator[Requantized]):
    def reference(self, attributes: Requantized, inputs: Arrays) -> np.ndarray:
        a, b, table, *rest = inputs
        value = looked_up(table, a).astype(np.int64) * b.astype(np.int64)
        return Requant.of(attributes).apply(value, rest).astype(self.result_type(attributes))

    def body(self, loops: Loops, attributes: Requantized, inputs: Specs, output: TensorSpec) -> None:
        a, b, table = loops.buffers("a b table", (inputs[0].flat, inputs[1].flat, inputs[2]))
        tensors, y = loops.buffers("mul add", inputs[3:]), loops.buffer("y", output.flat)
        with over(loops, output.flat.shape) as (place,):
            value = i32(table[less(i32(a[place]), inputs[0].range[0])]) * i32(b[place])
            loops.store(y, [place], Requant.of(attributes).expression(value, tensors, i32(0)))
