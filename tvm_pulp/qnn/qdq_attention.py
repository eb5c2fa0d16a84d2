"""Attention of a quantize/dequantize graph: scores, scale, mask, softmax and values of all heads in one operator.

Operands: q, k, v, [q_table, k_table, mask,] table, exponential. q, k and v are 8-bit tensors of any shape (q and k
looked up in their tables first, whose first entry belongs to the smallest value): the element of head h, position
s and place d is number `offset` + h * `head_stride` + s * `stride` + d; `group` heads of q share one of k and
v. So nothing is copied between the projections and here, whatever the layout. Per head and query, zero points taken
out:

    l = round(q . k * logit_scale), from logit_low to logit_high
    u = table[class][l - logit_low], the class from mask[heads or 1][queries or 1][keys]: what scaling, masking and
        their quantizations make of l
    e = exponential[max(u) - u];  p = round(e * (gain / sum(e))), up to probability_high
    y = round(p . v * value_scale), from low to high, plus zero_point

The result is [1, heads, queries, size], or [1, queries, heads, size] with y_layout "shd".
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.either import round_within, rounded
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.record import Rounded
from tvm_pulp.qnn.tensor_spec import looked_up
from tvm_pulp.quick_records import changed, quick_record

# Results of a row that a pass over the keys adds up: a stack has room for them everywhere.
_TOGETHER = 16
# Operands of `past_qdq_attention` beside those of `qdq_attention`.
OF_THE_PAST = ("past_k", "past_v", "length")


@quick_record(kw_only=True, slots=False)
class QdqAttentionAttributes(Rounded):
    """Places of the operands, and the scales of both products."""

    gain: float
    group: int
    has_k_table: bool
    has_mask: bool
    has_q_table: bool
    heads: int
    k_head_stride: int
    k_offset: int
    k_stride: int
    key_count: int
    logit_high: int
    logit_low: int
    logit_scale: float
    probability_high: int
    q_head_stride: int
    q_offset: int
    q_stride: int
    queries: int
    size: int
    v_head_stride: int
    v_offset: int
    v_stride: int
    value_scale: float
    y_layout: str
    zero_point_k: int
    zero_point_q: int
    zero_point_v: int


@quick_record(kw_only=True, slots=False)
class PastQdqAttentionAttributes(QdqAttentionAttributes):
    """New rows behind the cache."""

    rows: int


def operands(attributes: QdqAttentionAttributes, values: Sequence[Any]) -> dict[str, Any]:
    """Operands by name; new `rows` come with those of a cache."""
    past = OF_THE_PAST if isinstance(attributes, PastQdqAttentionAttributes) else ()
    given = [n for n in ("q_table", "k_table", "mask") if attributes[f"has_{n}"]]
    return dict(zip(["q", "k", "v", *past, *given, "table", "exponential"], values, strict=True))


def places(attributes: QdqAttentionAttributes, name: str) -> np.ndarray:
    """Number of every element of an operand: [heads, positions, size]."""
    heads, positions = attributes.heads, attributes.queries if name == "q" else attributes.key_count
    head = np.arange(heads) // (1 if name == "q" else attributes.group)
    return np.asarray(
        attributes[f"{name}_offset"]
        + attributes[f"{name}_head_stride"] * head[:, None, None]
        + attributes[f"{name}_stride"] * np.arange(positions)[:, None]
        + np.arange(attributes.size)
    )


def _index(a: QdqAttentionAttributes, product: Any) -> Any:
    """Place of a logit in a table's row."""
    return round_within(product * a.logit_scale, a.logit_low, a.logit_high) - a.logit_low


@dataclass(frozen=True)
class Segment:
    """Keys and values beside each other: `count` of them, of a cache those before `end`."""

    count: int
    # The first column of the mask that belongs to them, where that is not the first of all.
    first: int | None = None
    is_past: bool = False
    end: Any = None


OfHeads = TypeVar("OfHeads", bound=QdqAttentionAttributes)


@register("qdq_attention", attributes=QdqAttentionAttributes, single_precision=True)
class QdqAttention(Operator[OfHeads]):
    # Of the loops over rows of the result, and over keys.
    loop_names: ClassVar[tuple[str, str]] = ("row", "key")

    def infer(self, attributes: OfHeads, inputs: Specs) -> TensorSpec:
        heads, queries, size = attributes.heads, attributes.queries, attributes.size
        shape = (1, heads, queries, size) if attributes.y_layout == "hsd" else (1, queries, heads, size)
        return TensorSpec(shape, attributes.dtype)

    def reference(self, attributes: OfHeads, inputs: Arrays) -> np.ndarray:
        a, of = attributes, operands(attributes, inputs)
        for name in ("q", "k"):
            if f"{name}_table" in of:
                of[name] = looked_up(of[f"{name}_table"], of[name])
        q, k, v = (of[n].reshape(-1)[places(a, n)].astype(np.int64) - a[f"zero_point_{n}"] for n in "qkv")
        products = (q @ k.swapaxes(-1, -2)).astype(np.float32)
        index = _index(a, products)
        classes = of["mask"].astype(np.int64) if "mask" in of else np.zeros((1, 1, 1), np.int64)
        u = of["table"].astype(np.int64)[classes, index]
        e = of["exponential"].astype(np.int64)[u.max(-1, keepdims=True) - u]
        factor = np.float32(a.gain) / e.sum(-1, keepdims=True).astype(np.float32)
        p = round_within(e.astype(np.float32) * factor, 0, a.probability_high)
        y = rounded((p @ v).astype(np.float32) * a.value_scale, a)[None]
        return np.ascontiguousarray(y if a.y_layout == "hsd" else y.transpose(0, 2, 1, 3))

    def segments(self, attributes: OfHeads, of: dict[str, Any]) -> list[Segment]:
        """Segments of keys and values, one behind the other."""
        return [Segment(attributes.key_count)]

    def body(self, loops: Loops, attributes: OfHeads, inputs: Specs, output: TensorSpec) -> None:
        """Every pass over a row computes its logits again: plain C needs no memory for a row of them then."""
        a, specs = attributes, operands(attributes, inputs)
        flat = ("q", "k", "v", "past_k", "past_v")
        of = {name: loops.buffer(name, spec.flat if name in flat else spec) for name, spec in specs.items()}
        y, segments = loops.buffer("y", output), self.segments(a, of)
        heads, queries, size = (a[n] for n in ("heads", "queries", "size"))
        outer, inner = self.loop_names

        def at(name: str, past: bool, head: Any, position: Any, i: Any) -> Any:
            shared = head if name == "q" or a.group == 1 else tirx.truncdiv(head, i32(a.group))
            if past:
                value = of[f"past_{name}"][position * (heads // a.group * size) + shared * size + i]
            else:
                place = shared * a[f"{name}_head_stride"] + position * a[f"{name}_stride"] + i + a[f"{name}_offset"]
                value = of[name][place]
            value = i32(value)
            if f"{name}_table" in of:
                value = i32(of[f"{name}_table"][value - specs[name].range[0]])
            return value - a[f"zero_point_{name}"]

        def score(keys: Segment, head: Any, query: Any, key: Any) -> Any:
            acc = loops.sum(
                "dot", "i", size, lambda i: at("q", False, head, query, i) * at("k", keys.is_past, head, key, i)
            )
            index = _index(a, acc.value.astype("float32"))
            row: Any = i32(0)
            if "mask" in of:
                mask_heads, mask_queries, _ = specs["mask"].shape
                column = key if keys.first is None else key + keys.first
                row = i32(of["mask"][head if mask_heads > 1 else i32(0), query if mask_queries > 1 else i32(0), column])
            return loops.bind("score", i32(of["table"][row, index]))

        def over_keys(visit: Callable[[Segment, Any], None]) -> None:
            # Loops of a known length: what they cost at most is known then, too.
            for keys in segments:
                with (
                    loops.loop(inner, keys.count) as key,
                    loops.when(key < keys.end) if keys.is_past else nullcontext(),
                ):
                    visit(keys, key)

        with loops.parallel(outer, heads * queries) as place:
            head, query = loops.split(place, queries, "head", "query")
            best = loops.scalar("best", 0)
            over_keys(lambda keys, key: best.set(tirx.max(best.value, score(keys, head, query, key))))
            total = loops.scalar("total", 0)

            def exponential(keys: Segment, key: Any) -> Any:
                return of["exponential"][best.value - score(keys, head, query, key)]

            over_keys(lambda keys, key: total.set(total.value + exponential(keys, key)))
            factor = loops.bind("factor", tirx.const(a.gain, "float32") / total.value.astype("float32"))
            blocks = -(-size // _TOGETHER)
            width = -(-size // blocks)
            with loops.loop("block", blocks) as block:
                # Where the blocks do not come out even the last two overlap.
                first = loops.bind("first", tirx.min(block * width, i32(size - width)))
                sums = loops.local("sums", width)
                with loops.loop("j", width) as j:
                    loops.store(sums, [j], i32(0))

                def add(keys: Segment, key: Any) -> None:
                    e = exponential(keys, key).astype("float32")
                    p = loops.bind("p", round_within(e * factor, 0, a.probability_high))
                    with loops.loop("j", width) as j:
                        loops.store(sums, [j], sums[j] + p * at("v", keys.is_past, head, key, first + j))

                over_keys(add)
                with loops.loop("j", width) as j:
                    there = [i32(0), *((head, query) if a.y_layout == "hsd" else (query, head)), first + j]
                    loops.store(y, there, rounded(sums[j].astype("float32") * a.value_scale, a))

    def macs(self, attributes: OfHeads, inputs: Specs, output: TensorSpec) -> int:
        return 2 * attributes.heads * attributes.queries * attributes.key_count * attributes.size


@register("past_qdq_attention", attributes=PastQdqAttentionAttributes, single_precision=True)
class PastQdqAttention(QdqAttention[PastQdqAttentionAttributes]):
    """Attention of a quantize/dequantize graph over a cache and new rows.

    Operands: q, k, v, past_k, past_v, length, [q_table, k_table, mask,] table, exponential. As `qdq_attention`, where
    keys and values are the first `length` rows of past_k and past_v, [1, past, heads / group, size] each, and then k
    and v, the `rows` new ones; `key_count` is past + rows. Columns of the mask belong to all rows of the past and then
    to the new ones; those of the past are all alike. Rows of the past from `length` on hold anything.
    """

    loop_names = ("place", "row")

    def segments(self, attributes: PastQdqAttentionAttributes, of: dict[str, Any]) -> list[Segment]:
        """Those of the cache that count, then the new ones."""
        past = attributes.key_count - attributes.rows
        return [Segment(past, is_past=True, end=of["length"][0]), Segment(attributes.rows, past)]

    def reference(self, attributes: PastQdqAttentionAttributes, inputs: Arrays) -> np.ndarray:
        of, rows = operands(attributes, inputs), attributes.rows
        past, length = attributes.key_count - rows, int(of["length"].reshape(-1)[0])
        heads = attributes.heads // attributes.group
        width, new = heads * attributes.size, changed(attributes, heads=heads, group=1, key_count=rows)
        inner = {**attributes, "key_count": length + rows}
        del inner["rows"]
        for name in "kv":
            old = of[f"past_{name}"].reshape(past, width)[:length]
            added = of[name].reshape(-1)[places(new, name).swapaxes(0, 1)]
            of[name] = np.concatenate((old, added.reshape(rows, width)))
            inner |= {f"{name}_offset": 0, f"{name}_head_stride": attributes.size, f"{name}_stride": width}
        if "mask" in of:
            of["mask"] = of["mask"][..., past - length :]
        plain = QdqAttention[QdqAttentionAttributes]()
        return plain.reference(
            QdqAttentionAttributes.from_values(inner), [v for n, v in of.items() if n not in OF_THE_PAST]
        )
