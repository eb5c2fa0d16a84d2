"""Logits of one new token over a cache: the part of attention that needs neither its own key nor its own value.

Operands: q[1, heads * size], past_k[capacity, kv_heads * size], length[1] of int32. Several heads may share keys. Per
head, the logits of the first `length` rows, zeros behind them, and last the largest of the logits, or LOWEST:

    logit = (q . k * mul + 2^(shift - 1)) >> shift
"""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.past_attention import LOWEST, head_size


@register("past_scores", attributes="heads kv_heads mul shift")
class PastScores(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec((int(attributes["heads"]), inputs[1].shape[0] + 1), "int32")

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        q, past, length = (i.astype(np.int64) for i in inputs)
        heads, kv_heads, shift, known = attributes["heads"], attributes["kv_heads"], attributes["shift"], int(length[0])
        keys = np.repeat(past.reshape(len(past), kv_heads, -1)[:known], heads // kv_heads, 1)
        dots = np.einsum("hd,khd->hk", q.reshape(heads, -1), keys)
        logits = (dots * attributes["mul"] + (1 << shift >> 1)) >> shift
        result = np.zeros((heads, len(past) + 1), np.int32)
        result[:, :known] = logits
        result[:, -1] = logits.max(1, initial=LOWEST)
        return result

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        q, past, length = (loops.buffer(n, s) for n, s in zip(("q", "past_k", "length"), inputs, strict=True))
        y = loops.buffer("y", output)
        heads, kv_heads, capacity = int(attributes["heads"]), int(attributes["kv_heads"]), inputs[1].shape[0]
        size, shift = head_size(attributes, inputs[0]), attributes["shift"]
        with loops.parallel("head", heads) as head:
            first = loops.bind("first", tirx.truncdiv(head, i32(heads // kv_heads)) * size)
            best = loops.scalar("best", LOWEST)
            with loops.loop("key", capacity) as key:
                loops.store(y, [head, key], i32(0))
                with loops.when(key < length[0]):
                    acc = loops.sum("dot", "i", size, lambda i: i32(q[0, head * size + i]) * i32(past[key, first + i]))
                    logit = tirx.shift_right(acc.value * attributes["mul"] + (1 << shift >> 1), i32(shift))
                    loops.store(y, [head, key], logit)
                    best.set(tirx.max(best.value, y[head, key]))
            loops.store(y, [head, capacity], best.value)

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return inputs[0].elements * inputs[1].shape[0]
