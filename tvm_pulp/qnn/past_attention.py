"""Attention of new tokens over a cache and themselves: at once, and of one token in three parts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.quick_records import quick_record

LARGEST_DISTANCE = 255
LOWEST = -(1 << 30)


@quick_record(kw_only=True, slots=False)
class HeadsAttributes(Attributes):
    """Heads of queries, and of keys and values."""

    heads: int
    kv_heads: int


@quick_record(kw_only=True, slots=False)
class PastLogitAttributes(HeadsAttributes):
    """The scale of logits."""

    mul: int
    shift: int


def exponential_table(steps: int) -> np.ndarray:
    """255 * e^(-d / steps) for distances d from 0 to 255."""
    return np.rint(255 * np.exp(-np.arange(LARGEST_DISTANCE + 1) / steps)).astype(np.uint8)


def by_head(attributes: HeadsAttributes, rows: np.ndarray) -> np.ndarray:
    """Rows of keys or values as [rows, heads, size]: what heads share, once for each of them."""
    count, kv_heads = len(rows), attributes.kv_heads
    return np.repeat(rows.reshape(count, kv_heads, rows.shape[1] // kv_heads), attributes.heads // kv_heads, 1)


def value_rows(past_v: np.ndarray, width: int) -> np.ndarray:
    """Values of a cache as rows of a position each, also where four positions of an element lie in a word."""
    return past_v.reshape(len(past_v), width, -1).swapaxes(1, 2).reshape(-1, width)


def value_at(past_v: Any, together: int, key: Any, element: Any) -> Any:
    """A value of a cache whose words hold `together` positions of an element, in TIR."""
    if together == 1:
        return past_v[key, element]
    return past_v[tirx.truncdiv(key, i32(together)), element * together + tirx.truncmod(key, i32(together))]


def logit_of(attributes: PastLogitAttributes, dot: Any) -> Any:
    """A product of query and key as a logit, in numpy or TIR."""
    return (dot * attributes.mul + (1 << attributes.shift >> 1)) >> attributes.shift


def first_column(loops: Loops, attributes: HeadsAttributes, head: Any, size: int) -> Any:
    """Place in a row of keys or values where those of a head begin."""
    return loops.bind("first", tirx.truncdiv(head, i32(attributes.heads // attributes.kv_heads)) * size)


def logit(
    loops: Loops, attributes: PastLogitAttributes, size: int, q: Callable[[Any], Any], k: Callable[[Any], Any]
) -> Any:
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
    attributes=PastLogitAttributes,
    operands="q k v past_k past_v length exponential",
    result="int8",
)
class PastAttention(Operator[PastLogitAttributes]):
    """Attention of new tokens over a cache and themselves.

    Operands: q[n, heads * size], k[n, kv_heads * size], v as k, past_k[capacity, kv_heads * size], past_v as past_k or,
    with four positions of an element in a word, [capacity / 4, kv_heads * size * 4], length[1] of int32,
    exponential[256] of uint8. Query i sees the first `length` rows of the past and the new rows up to its own; rows of
    the past from `length` on hold anything. Several heads may share keys and values. Per query and head:

        logit = (q . k * mul + 2^(shift - 1)) >> shift
        e = exponential[min(largest logit - logit, 255)]
        y = sum(e * v) / sum(e), rounded half up
    """

    def reference(self, attributes: PastLogitAttributes, inputs: Arrays) -> np.ndarray:
        q, k, v, past_k, past_v, length, table = (i.astype(np.int64) for i in inputs)
        known, pairs = int(length[0]), ((past_k, k), (value_rows(past_v, v.shape[1]), v))
        keys, values = (by_head(attributes, np.concatenate((past[:known], new))) for past, new in pairs)
        y = np.zeros((len(q), *keys.shape[1:]), np.int64)
        for row, queries in enumerate(q.reshape(y.shape)):
            seen = known + row + 1
            logits = logit_of(attributes, np.einsum("hd,khd->hk", queries, keys[:seen]))
            weights = table[np.minimum(logits.max(1, keepdims=True) - logits, LARGEST_DISTANCE)]
            total = weights.sum(1, keepdims=True)
            y[row] = (2 * np.einsum("hk,khd->hd", weights, values[:seen]) + total) // (2 * total)
        return y.reshape(q.shape).astype(np.int8)

    def body(self, loops: Loops, attributes: PastLogitAttributes, inputs: Specs, output: TensorSpec) -> None:
        """Every pass over the keys computes its logits again: plain C needs no scratch memory then."""
        of = dict(zip(self.operand_names.split(), loops.buffers(self.operand_names, inputs), strict=True))
        y = loops.buffer("y", output)
        rows, heads = inputs[0].shape[0], int(attributes.heads)
        size, together = inputs[0].shape[1] // heads, inputs[4].shape[1] // inputs[2].shape[1]
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

                def add(past: str, key: Any) -> None:
                    value = value_at(of[f"{past}v"], together if past else 1, key, first + j)
                    acc.set(acc.value + weight(past, key) * i32(value))

                over_keys(add)
                loops.store(y, [row, head * size + j], mean(acc.value, total.value))

    def macs(self, attributes: PastLogitAttributes, inputs: Specs, output: TensorSpec) -> int:
        return 2 * output.elements * inputs[3].shape[0]


@register("past_scores", attributes=PastLogitAttributes)
class PastScores(Operator[PastLogitAttributes]):
    """Logits of one new token over a cache: the part of attention that needs neither its own key nor its own value.

    Operands: q[1, heads * size], past_k[capacity, kv_heads * size], length[1] of int32. Several heads may share keys.
    Per head, the logits of the first `length` rows, zeros behind them, and last the largest of the logits, or LOWEST:

        logit = (q . k * mul + 2^(shift - 1)) >> shift
    """

    def infer(self, attributes: PastLogitAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec((int(attributes.heads), inputs[1].shape[0] + 1), "int32")

    def reference(self, attributes: PastLogitAttributes, inputs: Arrays) -> np.ndarray:
        q, past, length = (i.astype(np.int64) for i in inputs)
        heads, known = attributes.heads, int(length[0])
        logits = logit_of(attributes, np.einsum("hd,khd->hk", q.reshape(heads, -1), by_head(attributes, past[:known])))
        result = np.zeros((heads, len(past) + 1), np.int32)
        result[:, :known] = logits
        result[:, -1] = logits.max(1, initial=LOWEST)
        return result

    def body(self, loops: Loops, attributes: PastLogitAttributes, inputs: Specs, output: TensorSpec) -> None:
        q, past, length, y = loops.buffers("q past_k length y", (*inputs, output))
        heads, capacity = int(attributes.heads), inputs[1].shape[0]
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

    def macs(self, attributes: PastLogitAttributes, inputs: Specs, output: TensorSpec) -> int:
        return inputs[0].elements * inputs[1].shape[0]


@register("past_mix", attributes=PastLogitAttributes)
class PastMix(Operator[PastLogitAttributes]):
    """Values of a cache mixed for one new token: what attention needs beside the token's own value.

    Operands: q[1, heads * size], k[1, kv_heads * size], scores as past_scores makes them, past_v[capacity, kv_heads *
    size] or, with four positions of an element in a word, [capacity / 4, kv_heads * size * 4], length[1] of int32,
    exponential[256] of uint8. Per head:

        e = exponential[min(largest logit - logit, 255)], of the new row too
        sum(e * v) of the rows of the past, e of the new row, sum(e) of all
    """

    def infer(self, attributes: PastLogitAttributes, inputs: Specs) -> TensorSpec:
        heads = int(attributes.heads)
        return TensorSpec((heads, inputs[0].shape[1] // heads + 2), "int32")

    def reference(self, attributes: PastLogitAttributes, inputs: Arrays) -> np.ndarray:
        q, k, scores, past, length, table = (i.astype(np.int64) for i in inputs)
        known = int(length[0])
        dots = np.einsum("hd,hd->h", q.reshape(attributes.heads, -1), by_head(attributes, k)[0])
        fresh = logit_of(attributes, dots)
        logits = np.concatenate((scores[:, :known], fresh[:, None]), 1)
        weights = table[np.minimum(np.maximum(scores[:, -1], fresh)[:, None] - logits, LARGEST_DISTANCE)]
        values = by_head(attributes, value_rows(past, k.shape[1])[:known])
        sums = np.einsum("hk,khd->hd", weights[:, :-1], values)
        return np.concatenate((sums, weights[:, -1:], weights.sum(1, keepdims=True)), 1).astype(np.int32)

    def body(self, loops: Loops, attributes: PastLogitAttributes, inputs: Specs, output: TensorSpec) -> None:
        q, k, scores, past, length, table = loops.buffers("q k scores past_v length exponential", inputs)
        y, (heads, columns), capacity = loops.buffer("y", output), output.shape, inputs[2].shape[1] - 1
        size, together = columns - 2, inputs[3].shape[1] // inputs[1].shape[1]
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
                    loops.store(y, [head, i], y[head, i] + e * i32(value_at(past, together, key, first + i)))
            loops.store(y, [head, size], own)
            loops.store(y, [head, size + 1], total.value)

    def macs(self, attributes: PastLogitAttributes, inputs: Specs, output: TensorSpec) -> int:
        return inputs[0].elements * inputs[2].shape[1]


@quick_record(kw_only=True, slots=False)
class PastMeanAttributes(HeadsAttributes):
    """The most keys that there can be."""

    key_count: int


@register("past_mean", attributes=PastMeanAttributes)
class PastMean(Operator[PastMeanAttributes]):
    """The end of attention of one new token: its own value joins those of the past.

    Operands: mix as past_mix makes it, v[1, kv_heads * size]. Per head:

        y = (sum + e * v) / total, rounded half up
    """

    def infer(self, attributes: PastMeanAttributes, inputs: Specs) -> TensorSpec:
        heads, columns = inputs[0].shape
        return TensorSpec((1, heads * (columns - 2)), "int8")

    def reference(self, attributes: PastMeanAttributes, inputs: Arrays) -> np.ndarray:
        mix, v = (i.astype(np.int64) for i in inputs)
        values = by_head(attributes, v)[0]
        sums, own, total = mix[:, :-2], mix[:, -2:-1], mix[:, -1:]
        return ((2 * (sums + own * values) + total) // (2 * total)).reshape(1, -1).astype(np.int8)

    def body(self, loops: Loops, attributes: PastMeanAttributes, inputs: Specs, output: TensorSpec) -> None:
        mix, v, y = loops.buffers("mix v y", (*inputs, output))
        heads, size = inputs[0].shape[0], inputs[0].shape[1] - 2
        with loops.parallel("head", heads) as head:
            first = first_column(loops, attributes, head, size)
            total = loops.bind("total", mix[head, size + 1])
            with loops.loop("i", size) as i:
                loops.store(y, [0, head * size + i], mean(mix[head, i] + mix[head, size] * i32(v[0, first + i]), total))

    def macs(self, attributes: PastMeanAttributes, inputs: Specs, output: TensorSpec) -> int:
        return output.elements
