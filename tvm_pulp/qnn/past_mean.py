"""The end of attention of one new token: its own value joins those of the past.

Operands: mix as past_mix makes it, v[1, kv_heads * size]. Per head:

    y = (sum + e * v) / total, rounded half up
"""

import numpy as np

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.past_attention import by_head, first_column, mean


@register("past_mean", attributes="heads keys kv_heads")
class PastMean(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        heads, columns = inputs[0].shape
        return TensorSpec((1, heads * (columns - 2)), "int8")

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        mix, v = (i.astype(np.int64) for i in inputs)
        values = by_head(attributes, v)[0]
        sums, own, total = mix[:, :-2], mix[:, -2:-1], mix[:, -1:]
        return ((2 * (sums + own * values) + total) // (2 * total)).reshape(1, -1).astype(np.int8)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        mix, v, y = loops.buffers("mix v y", (*inputs, output))
        heads, size = inputs[0].shape[0], inputs[0].shape[1] - 2
        with loops.parallel("head", heads) as head:
            first = first_column(loops, attributes, head, size)
            total = loops.bind("total", mix[head, size + 1])
            with loops.loop("i", size) as i:
                loops.store(y, [0, head * size + i], mean(mix[head, i] + mix[head, size] * i32(v[0, first + i]), total))

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return output.elements
