"""Logits of one new token over a cache: the part of attention that needs neither its own key nor its own value.

Operands: q[1, heads * size], past_k[capacity, kv_heads * size], length[1] of int32. Several heads may share keys. Per
head, the logits of the first `length` rows, zeros behind them, and last the largest of the logits, or LOWEST:

    logit = (q . k * mul + 2^(shift - 1)) >> shift
"""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.past_attention import LOWEST, by_head, first_column, logit, logit_of


@register("past_scores", attributes="heads kv_heads mul shift")
class PastScores(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec((int(attributes["heads"]), inputs[1].shape[0] + 1), "int32")

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        q, past, length = (i.astype(np.int64) for i in inputs)
        heads, known = attributes["heads"], int(length[0])
        logits = logit_of(attributes, np.einsum("hd,khd->hk", q.reshape(heads, -1), by_head(attributes, past[:known])))
        result = np.zeros((heads, len(past) + 1), np.int32)
        result[:, :known] = logits
        result[:, -1] = logits.max(1, initial=LOWEST)
        return result

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        q, past, length, y = loops.buffers("q past_k length y", (*inputs, output))
        heads, capacity = int(attributes["heads"]), inputs[1].shape[0]
        size = inputs[0].shape[1] // heads
        with loops.parallel("head", heads) as head:
            first = first_column(loops, attributes, head, size)
            best = loops.scalar("best", LOWEST)
            with loops.loop("key", capacity) as key:
                loops.store(y, [head, key], i32(0))
                with loops.when(key < length[0]):
                    found = logit(
                        loops, attributes, size, lambda i: q[0, head * size + i], lambda i: past[key, first + i]
                    )
                    loops.store(y, [head, key], found)
                    best.set(tirx.max(best.value, y[head, key]))
            loops.store(y, [head, capacity], best.value)

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return inputs[0].elements * inputs[1].shape[0]
