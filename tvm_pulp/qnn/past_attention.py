"""Attention of new tokens over a cache and themselves.

Operands: q[n, heads * size], k[n, kv_heads * size], v as k, past_k[capacity, kv_heads * size], past_v as past_k,
length[1] of int32, exponential[256] of uint8. Query i sees the first `length` rows of the past and the new rows up to
its own; rows of the past from `length` on hold anything. Several heads may share keys and values. Per query and head:

    logit = (q . k * mul + 2^(shift - 1)) >> shift
    e = exponential[min(largest logit - logit, 255)]
    y = sum(e * v) / sum(e), rounded half up
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register

LARGEST_DISTANCE = 255
LOWEST = -(1 << 30)


def exponential_table(steps: int) -> np.ndarray:
    """255 * e^(-d / steps) for distances d from 0 to 255."""
    return np.rint(255 * np.exp(-np.arange(LARGEST_DISTANCE + 1) / steps)).astype(np.uint8)


def by_head(attributes: Attributes, rows: np.ndarray) -> np.ndarray:
    """Rows of keys or values as [rows, heads, size]: what heads share, once for each of them."""
    count, kv_heads = len(rows), attributes["kv_heads"]
    return np.repeat(rows.reshape(count, kv_heads, rows.shape[1] // kv_heads), attributes["heads"] // kv_heads, 1)


def logit_of(attributes: Attributes, dot: Any) -> Any:
    """A product of query and key as a logit, in numpy or TIR."""
    return (dot * attributes["mul"] + (1 << attributes["shift"] >> 1)) >> attributes["shift"]


def first_column(loops: Loops, attributes: Attributes, head: Any, size: int) -> Any:
    """Place in a row of keys or values where those of a head begin."""
    return loops.bind("first", tirx.truncdiv(head, i32(attributes["heads"] // attributes["kv_heads"])) * size)


def logit(loops: Loops, attributes: Attributes, size: int, q: Callable[[Any], Any], k: Callable[[Any], Any]) -> Any:
    """The logit of a query and a key, by their elements, in TIR."""
    return logit_of(attributes, loops.sum("dot", "i", size, lambda i: i32(q(i)) * i32(k(i))).value)


def exponential_of(table: Any, distance: Any) -> Any:
    """Entry of a table of exponentials, in TIR."""
    return i32(table[tirx.min(distance, i32(LARGEST_DISTANCE))])


def mean(total: Any, weights: Any) -> Any:
    """A sum of weighted bytes divided by that of their weights, rounded half up, in TIR."""
    # Values above -128 make the numerator positive, where C divides like a floor.
    return (tirx.truncdiv((total + weights * 128) * 2 + weights, weights * 2) - 128).astype("int8")


@register(
    "past_attention",
    attributes="heads kv_heads mul shift",
    operands="q k v past_k past_v length exponential",
    result="int8",
)
class PastAttention(Operator):
    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        q, k, v, past_k, past_v, length, table = (i.astype(np.int64) for i in inputs)
        known = int(length[0])
        keys, values = (
            by_head(attributes, np.concatenate((past[:known], new))) for past, new in ((past_k, k), (past_v, v))
        )
        y = np.zeros((len(q), *keys.shape[1:]), np.int64)
        for row, queries in enumerate(q.reshape(y.shape)):
            seen = known + row + 1
            logits = logit_of(attributes, np.einsum("hd,khd->hk", queries, keys[:seen]))
            weights = table[np.minimum(logits.max(1, keepdims=True) - logits, LARGEST_DISTANCE)]
            total = weights.sum(1, keepdims=True)
            y[row] = (2 * np.einsum("hk,khd->hd", weights, values[:seen]) + total) // (2 * total)
        return y.reshape(q.shape).astype(np.int8)

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        """Every pass over the keys computes its logits again: plain C needs no scratch memory then."""
        of = dict(zip(self.operand_names.split(), loops.buffers(self.operand_names, inputs), strict=True))
        y = loops.buffer("y", output)
        rows, heads = inputs[0].shape[0], int(attributes["heads"])
        size = inputs[0].shape[1] // heads
        with loops.parallel("place", rows * heads) as place:
            row, head = loops.split(place, heads, "row", "head")
            first = first_column(loops, attributes, head, size)
            known = loops.bind("known", of["length"][0])

            def of_key(past: str, key: Any) -> Any:
                q, k = (lambda i: of["q"][row, head * size + i]), (lambda i: of[f"{past}k"][key, first + i])
                return loops.bind("logit", logit(loops, attributes, size, q, k))

            def over_keys(visit: Any) -> None:
                # Loops of a known length: what they cost at most is known then, too.
                for past, count, end in (("past_", inputs[3].shape[0], known), ("", rows, row + 1)):
                    with loops.loop("key", count) as key, loops.when(key < end):
                        visit(past, key)

            best = loops.scalar("best", LOWEST)
            over_keys(lambda past, key: best.set(tirx.max(best.value, of_key(past, key))))

            def weight(past: str, key: Any) -> Any:
                return exponential_of(of["exponential"], best.value - of_key(past, key))

            total = loops.scalar("total", 0)
            over_keys(lambda past, key: total.set(total.value + weight(past, key)))
            with loops.loop("j", size) as j:
                acc = loops.scalar("acc", 0)
                over_keys(
                    lambda past, key: acc.set(acc.value + weight(past, key) * i32(of[f"{past}v"][key, first + j]))
                )
                loops.store(y, [row, head * size + j], mean(acc.value, total.value))

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return 2 * output.elements * inputs[3].shape[0]
