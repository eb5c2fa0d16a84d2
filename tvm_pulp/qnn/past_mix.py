"""Values of a cache mixed for one new token: what attention needs beside the token's own value.

Operands: q[1, heads * size], k[1, kv_heads * size], scores as past_scores makes them, past_v[capacity, kv_heads *
size], length[1] of int32, exponential[256] of uint8. Per head:

    e = exponential[min(largest logit - logit, 255)], of the new row too
    sum(e * v) of the rows of the past, e of the new row, sum(e) of all
"""

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.past_attention import LARGEST_DISTANCE, by_head, exponential_of, first_column, logit, logit_of


@register("past_mix", attributes="heads kv_heads mul shift")
class PastMix(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        heads = int(attributes["heads"])
        return TensorSpec((heads, inputs[0].shape[1] // heads + 2), "int32")

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        q, k, scores, past, length, table = (i.astype(np.int64) for i in inputs)
        known = int(length[0])
        dots = np.einsum("hd,hd->h", q.reshape(attributes["heads"], -1), by_head(attributes, k)[0])
        fresh = logit_of(attributes, dots)
        logits = np.concatenate((scores[:, :known], fresh[:, None]), 1)
        weights = table[np.minimum(np.maximum(scores[:, -1], fresh)[:, None] - logits, LARGEST_DISTANCE)]
        sums = np.einsum("hk,khd->hd", weights[:, :-1], by_head(attributes, past[:known]))
        return np.concatenate((sums, weights[:, -1:], weights.sum(1, keepdims=True)), 1).astype(np.int32)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        q, k, scores, past, length, table = loops.buffers("q k scores past_v length exponential", inputs)
        y, (heads, columns), capacity = loops.buffer("y", output), output.shape, inputs[3].shape[0]
        size = columns - 2
        with loops.parallel("head", heads) as head:
            first = first_column(loops, attributes, head, size)
            scaled = logit(loops, attributes, size, lambda i: q[0, head * size + i], lambda i: k[0, first + i])
            fresh = loops.bind("fresh", scaled)
            largest = loops.bind("largest", tirx.max(scores[head, capacity], fresh))
            own = loops.bind("own", exponential_of(table, largest - fresh))
            total = loops.scalar("total", own)
            with loops.loop("i", size) as i:
                loops.store(y, [head, i], i32(0))
            with loops.loop("key", capacity) as key, loops.when(key < length[0]):
                e = loops.bind("e", exponential_of(table, largest - scores[head, key]))
                total.set(total.value + e)
                with loops.loop("i", size) as i:
                    loops.store(y, [head, i], y[head, i] + e * i32(past[key, first + i]))
            loops.store(y, [head, size], own)
            loops.store(y, [head, size + 1], total.value)

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return inputs[0].elements * (inputs[3].shape[0] + 1)
