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
from typing import Any, ClassVar

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.either import round_within, rounded
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.tensor_spec import looked_up

_ATTRIBUTES = (
    "dtype gain group has_k_table has_mask has_q_table heads high k_head_stride k_offset k_stride keys logit_high "
    "logit_low logit_scale low probability_high q_head_stride q_offset q_stride queries size v_head_stride v_offset "
    "v_stride value_scale y_layout zero_point zero_point_k zero_point_q zero_point_v"
)
# Results of a row that a pass over the keys adds up: a stack has room for them everywhere.
_TOGETHER = 16
# Operands of `past_qdq_attention` beside those of `qdq_attention`.
OF_THE_PAST = ("past_k", "past_v", "length")


def operands(attributes: Attributes, values: Sequence[Any]) -> dict[str, Any]:
    """Operands by name; new `rows` come with those of a cache."""
    past = OF_THE_PAST if "rows" in attributes else ()
    given = [n for n in ("q_table", "k_table", "mask") if attributes[f"has_{n}"]]
    return dict(zip(["q", "k", "v", *past, *given, "table", "exponential"], values, strict=True))


def places(attributes: Attributes, name: str) -> np.ndarray:
    """Number of every element of an operand: [heads, positions, size]."""
    heads, positions = attributes["heads"], attributes["queries" if name == "q" else "keys"]
    head = np.arange(heads) // (1 if name == "q" else attributes["group"])
    return np.asarray(
        attributes[f"{name}_offset"]
        + attributes[f"{name}_head_stride"] * head[:, None, None]
        + attributes[f"{name}_stride"] * np.arange(positions)[:, None]
        + np.arange(attributes["size"])
    )


def _index(a: Attributes, product: Any) -> Any:
    """Place of a logit in a table's row."""
    return round_within(product * a["logit_scale"], a["logit_low"], a["logit_high"]) - a["logit_low"]


@dataclass(frozen=True)
class Segment:
    """Keys and values beside each other: `count` of them, of a cache those before `end`."""

    count: int
    # The first column of the mask that belongs to them, where that is not the first of all.
    first: int | None = None
    is_past: bool = False
    end: Any = None


@register("qdq_attention", attributes=_ATTRIBUTES, single_precision=True)
class QdqAttention(Operator):
    # Of the loops over rows of the result, and over keys.
    loop_names: ClassVar[tuple[str, str]] = ("row", "key")

    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        heads, queries, size = (attributes[n] for n in ("heads", "queries", "size"))
        shape = (1, heads, queries, size) if attributes["y_layout"] == "hsd" else (1, queries, heads, size)
        return TensorSpec(shape, attributes["dtype"])

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
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
        factor = np.float32(a["gain"]) / e.sum(-1, keepdims=True).astype(np.float32)
        p = round_within(e.astype(np.float32) * factor, 0, a["probability_high"])
        y = rounded((p @ v).astype(np.float32) * a["value_scale"], a)[None]
        return np.ascontiguousarray(y if a["y_layout"] == "hsd" else y.transpose(0, 2, 1, 3))

    def segments(self, attributes: Attributes, of: dict[str, Any]) -> list[Segment]:
        """Segments of keys and values, one behind the other."""
        return [Segment(attributes["keys"])]

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        """Every pass over a row computes its logits again: plain C needs no memory for a row of them then."""
        a, specs = attributes, operands(attributes, inputs)
        flat = ("q", "k", "v", "past_k", "past_v")
        of = {name: loops.buffer(name, spec.flat if name in flat else spec) for name, spec in specs.items()}
        y, segments = loops.buffer("y", output), self.segments(a, of)
        heads, queries, size = (a[n] for n in ("heads", "queries", "size"))
        outer, inner = self.loop_names

        def at(name: str, past: bool, head: Any, position: Any, i: Any) -> Any:
            shared = head if name == "q" or a["group"] == 1 else tirx.truncdiv(head, i32(a["group"]))
            if past:
                value = of[f"past_{name}"][position * (heads // a["group"] * size) + shared * size + i]
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
            factor = loops.bind("factor", tirx.const(a["gain"], "float32") / total.value.astype("float32"))
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
                    p = loops.bind("p", round_within(e * factor, 0, a["probability_high"]))
                    with loops.loop("j", width) as j:
                        loops.store(sums, [j], sums[j] + p * at("v", keys.is_past, head, key, first + j))

                over_keys(add)
                with loops.loop("j", width) as j:
                    there = [i32(0), *((head, query) if a["y_layout"] == "hsd" else (query, head)), first + j]
                    loops.store(y, there, rounded(sums[j].astype("float32") * a["value_scale"], a))

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return 2 * int(np.prod([attributes[n] for n in ("heads", "queries", "keys", "size")]))


@register("past_qdq_attention", attributes=f"{_ATTRIBUTES} rows", single_precision=True)
class PastQdqAttention(QdqAttention):
    """Attention of a quantize/dequantize graph over a cache and new rows.

    Operands: q, k, v, past_k, past_v, length, [q_table, k_table, mask,] table, exponential. As `qdq_attention`, where
    keys and values are the first `length` rows of past_k and past_v, [1, past, heads / group, size] each, and then k
    and v, the `rows` new ones; `keys` is past + rows. Columns of the mask belong to all rows of the past and then to
    the new ones; those of the past are all alike. Rows of the past from `length` on hold anything.
    """

    loop_names = ("place", "row")

    def segments(self, attributes: Attributes, of: dict[str, Any]) -> list[Segment]:
        """Those of the cache that count, then the new ones."""
        past = attributes["keys"] - attributes["rows"]
        return [Segment(past, is_past=True, end=of["length"][0]), Segment(attributes["rows"], past)]

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        of, rows = operands(attributes, inputs), attributes["rows"]
        past, length = attributes["keys"] - rows, int(of["length"].reshape(-1)[0])
        heads = attributes["heads"] // attributes["group"]
        width, new = heads * attributes["size"], {**attributes, "heads": heads, "group": 1, "keys": rows}
        inner = {name: value for name, value in attributes.items() if name != "rows"} | {"keys": length + rows}
        for name in "kv":
            old = of[f"past_{name}"].reshape(past, width)[:length]
            added = of[name].reshape(-1)[places(new, name).swapaxes(0, 1)]
            of[name] = np.concatenate((old, added.reshape(rows, width)))
            inner |= {f"{name}_offset": 0, f"{name}_head_stride": attributes["size"], f"{name}_stride": width}
        if "mask" in of:
            of["mask"] = of["mask"][..., past - length :]
        return QdqAttention().reference(inner, [v for n, v in of.items() if n not in OF_THE_PAST])
