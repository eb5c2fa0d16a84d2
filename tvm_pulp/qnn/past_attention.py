"""Attention of new tokens over a cache and themselves.

Operands: q[n, heads * size], k[n, kv_heads * size], v as k, past_k[capacity, kv_heads * size], past_v as past_k,
length[1] of int32, exponential[256] of uint8. Query i sees the first `length` rows of the past and the new rows up to
its own; rows of the past from `length` on hold anything. Several heads may share keys and values. Per query and head:

    logit = (q . k * mul + 2^(shift - 1)) >> shift
    e = exponential[min(largest logit - logit, 255)]
    y = sum(e * v) / sum(e), rounded half up
"""

from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register

LARGEST_DISTANCE = 255
LOWEST = -(1 << 30)


def exponential_table(steps: int) -> np.ndarray:
    """255 * e^(-d / steps) for distances d from 0 to 255."""
    return np.rint(255 * np.exp(-np.arange(LARGEST_DISTANCE + 1) / steps)).astype(np.uint8)


def head_size(attributes: Attributes, q: TensorSpec) -> int:
    return q.shape[1] // int(attributes["heads"])


@register(
    "past_attention",
    attributes="heads kv_heads mul shift",
    operands="q k v past_k past_v length exponential",
    result="int8",
)
class PastAttention(Operator):
    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        q, k, v, past_k, past_v, length, table = (i.astype(np.int64) for i in inputs)
        rows, heads, kv_heads = len(q), attributes["heads"], attributes["kv_heads"]
        known = int(length[0])
        size, shift = q.shape[1] // heads, attributes["shift"]
        keys, values = (
            np.concatenate((past[:known], new)).reshape(known + rows, kv_heads, size)
            for past, new in ((past_k, k), (past_v, v))
        )
        group = heads // kv_heads
        keys, values = np.repeat(keys, group, 1), np.repeat(values, group, 1)
        y = np.zeros((rows, heads, size), np.int64)
        for row, queries in enumerate(q.reshape(rows, heads, size)):
            seen = known + row + 1
            dots = np.einsum("hd,khd->hk", queries, keys[:seen])
            logits = (dots * attributes["mul"] + (1 << shift >> 1)) >> shift
            weights = table[np.minimum(logits.max(1, keepdims=True) - logits, LARGEST_DISTANCE)]
            total = weights.sum(1, keepdims=True)
            y[row] = (2 * np.einsum("hk,khd->hd", weights, values[:seen]) + total) // (2 * total)
        return y.reshape(q.shape).astype(np.int8)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        """Every pass over the keys computes its logits again: plain C needs no scratch memory then."""
        names = ("q", "k", "v", "past_k", "past_v", "length", "exponential")
        of = {name: loops.buffer(name, spec) for name, spec in zip(names, inputs, strict=True)}
        y = loops.buffer("y", output)
        rows, heads, kv_heads = inputs[0].shape[0], int(attributes["heads"]), int(attributes["kv_heads"])
        size, shift = head_size(attributes, inputs[0]), attributes["shift"]

        with loops.parallel("place", rows * heads) as place:
            row = loops.bind("row", tirx.truncdiv(place, i32(heads)))
            head = loops.bind("head", tirx.truncmod(place, i32(heads)))
            first = loops.bind("first", tirx.truncdiv(head, i32(heads // kv_heads)) * size)
            known = loops.bind("known", of["length"][0])

            def logit(source: str, key: Any) -> Any:
                acc = loops.sum(
                    "dot", "i", size, lambda i: i32(of["q"][row, head * size + i]) * i32(of[source][key, first + i])
                )
                value = tirx.shift_right(acc.value * attributes["mul"] + (1 << shift >> 1), i32(shift))
                return loops.bind("logit", value)

            def over_keys(visit: Any) -> None:
                # Loops of a known length: what they cost at most is known then, too.
                for past, count, end in (("past_", inputs[3].shape[0], known), ("", rows, row + 1)):
                    with loops.loop("key", count) as key, loops.when(key < end):
                        visit(past, key)

            best = loops.scalar("best", LOWEST)
            over_keys(lambda past, key: best.set(tirx.max(best.value, logit(f"{past}k", key))))

            def weight(past: str, key: Any) -> Any:
                distance = tirx.min(best.value - logit(f"{past}k", key), i32(LARGEST_DISTANCE))
                return i32(of["exponential"][distance])

            total = loops.scalar("total", 0)
            over_keys(lambda past, key: total.set(total.value + weight(past, key)))
            with loops.loop("j", size) as j:
                acc = loops.scalar("acc", 0)
                over_keys(
                    lambda past, key: acc.set(acc.value + weight(past, key) * i32(of[f"{past}v"][key, first + j]))
                )
                # Values above -128 make the numerator positive, where C divides like a floor.
                raised = (acc.value + total.value * 128) * 2 + total.value
                mean = tirx.truncdiv(raised, total.value * 2) - 128
                loops.store(y, [row, head * size + j], mean.astype("int8"))

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return 2 * output.elements * inputs[3].shape[0]
