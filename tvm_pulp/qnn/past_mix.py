"""Values of a cache mixed for one new token: what attention needs beside the token's own value.

Operands: q[1, heads * size], k[1, kv_heads * size], scores as past_scores makes them, past_v[capacity, kv_heads *
size], length[1] of int32, exponential[256] of uint8. Per head:

    e = exponential[min(largest logit - logit, 255)], of the new row too
    sum(e * v) of the rows of the past, e of the new row, sum(e) of all
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.past_attention import LARGEST_DISTANCE, head_size


@register("past_mix", attributes="heads kv_heads mul shift")
class PastMix(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return TensorSpec((int(attributes["heads"]), head_size(attributes, inputs[0]) + 2), "int32")

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        q, k, scores, past, length, table = (i.astype(np.int64) for i in inputs)
        heads, kv_heads, shift, known = attributes["heads"], attributes["kv_heads"], attributes["shift"], int(length[0])
        group = heads // kv_heads
        dots = np.einsum("hd,hd->h", q.reshape(heads, -1), np.repeat(k.reshape(kv_heads, -1), group, 0))
        fresh = (dots * attributes["mul"] + (1 << shift >> 1)) >> shift
        logits = np.concatenate((scores[:, :known], fresh[:, None]), 1)
        largest = np.maximum(scores[:, -1], fresh)[:, None]
        weights = table[np.minimum(largest - logits, LARGEST_DISTANCE)]
        values = np.repeat(past.reshape(len(past), kv_heads, -1)[:known], group, 1)
        sums = np.einsum("hk,khd->hd", weights[:, :-1], values)
        return np.concatenate((sums, weights[:, -1:], weights.sum(1, keepdims=True)), 1).astype(np.int32)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        names = ("q", "k", "scores", "past_v", "length", "exponential")
        of = {name: loops.buffer(name, spec) for name, spec in zip(names, inputs, strict=True)}
        y = loops.buffer("y", output)
        heads, kv_heads, capacity = int(attributes["heads"]), int(attributes["kv_heads"]), inputs[3].shape[0]
        size, shift = head_size(attributes, inputs[0]), attributes["shift"]
        with loops.parallel("head", heads) as head:
            first = loops.bind("first", tirx.truncdiv(head, i32(heads // kv_heads)) * size)
            acc = loops.sum("dot", "i", size, lambda i: i32(of["q"][0, head * size + i]) * i32(of["k"][0, first + i]))
            scaled = tirx.shift_right(acc.value * attributes["mul"] + (1 << shift >> 1), i32(shift))
            fresh = loops.bind("fresh", scaled)
            largest = loops.bind("largest", tirx.max(of["scores"][head, capacity], fresh))

            def weight(logit: Any) -> Any:
                return i32(of["exponential"][tirx.min(largest - logit, i32(LARGEST_DISTANCE))])

            own = loops.bind("own", weight(fresh))
            total = loops.scalar("total", own)
            with loops.loop("i", size) as i:
                loops.store(y, [head, i], i32(0))
            with loops.loop("key", capacity) as key, loops.when(key < of["length"][0]):
                e = loops.bind("e", weight(of["scores"][head, key]))
                total.set(total.value + e)
                with loops.loop("i", size) as i:
                    loops.store(y, [head, i], y[head, i] + e * i32(of["past_v"][key, first + i]))
            loops.store(y, [head, size], own)
            loops.store(y, [head, size + 1], total.value)

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return inputs[0].elements * (inputs[3].shape[0] + 1)
