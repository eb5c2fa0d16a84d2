"""Attention of a quantize/dequantize graph over a cache and new rows.

Operands: q, k, v, past_k, past_v, length, [q_table, k_table, mask,] table, exponential. As `qdq_attention`, where keys
and values are the first `length` rows of past_k and past_v, [1, past, heads / group, size] each, and then k and v,
the `rows` new ones; `keys` is past + rows. Columns of the mask belong to all rows of the past and then to the new ones;
those of the past are all alike. Rows of the past from `length` on hold anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn import qdq_attention
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, call, i32, register
from tvm_pulp.qnn.qdq_attention import QdqAttention

# Operands beside those of `qdq_attention`, which come first but for q, k and v.
OF_THE_PAST = ("past_k", "past_v", "length")


def operands(attributes: Attributes, values: Sequence[Any]) -> dict[str, Any]:
    """Operands by name."""
    inner = list(qdq_attention.operands(attributes, [*values[:3], *values[6:]]))
    return dict(zip([*inner[:3], *OF_THE_PAST, *inner[3:]], values, strict=True))


def new_rows(attributes: Attributes, name: str, values: np.ndarray) -> np.ndarray:
    """k or v as [rows, heads / group, size]."""
    heads = np.arange(attributes["heads"] // attributes["group"])[:, None]
    row = np.arange(attributes["rows"])[:, None, None]
    place = attributes[f"{name}_offset"] + attributes[f"{name}_head_stride"] * heads + np.arange(attributes["size"])
    return np.asarray(values.reshape(-1)[attributes[f"{name}_stride"] * row + place])


@register(
    "past_qdq_attention",
    attributes=(
        "dtype gain group has_k_table has_mask has_q_table heads high k_head_stride k_offset k_stride keys "
        "logit_high logit_low logit_scale low probability_high q_head_stride q_offset q_stride queries rows size "
        "v_head_stride v_offset v_stride value_scale y_layout zero_point zero_point_k zero_point_q zero_point_v"
    ),
    single_precision=True,
)
class PastQdqAttention(Operator):
    def infer(self, attributes: Attributes, inputs: Specs) -> TensorSpec:
        return QdqAttention().infer(attributes, inputs)

    def reference(self, attributes: Attributes, inputs: Arrays) -> np.ndarray:
        of, rows = operands(attributes, inputs), attributes["rows"]
        past, length = attributes["keys"] - rows, int(of["length"].reshape(-1)[0])
        width = attributes["heads"] // attributes["group"] * attributes["size"]
        inner = {**attributes, "keys": length + rows}
        for name in "kv":
            old = of[f"past_{name}"].reshape(past, width)[:length]
            of[name] = np.concatenate((old, new_rows(attributes, name, of[name]).reshape(rows, width)))
            inner |= {f"{name}_offset": 0, f"{name}_head_stride": attributes["size"], f"{name}_stride": width}
        if "mask" in of:
            of["mask"] = of["mask"][..., past - length :]
        return QdqAttention().reference(inner, [v for n, v in of.items() if n not in OF_THE_PAST])

    def body(self, loops: Loops, attributes: Attributes, inputs: Specs, output: TensorSpec) -> None:
        """Every pass over a row computes its logits again: plain C needs no scratch memory then."""
        a = attributes
        specs = operands(a, inputs)
        flat = {
            n: TensorSpec((s.elements,), s.dtype) if n in ("q", "k", "v", "past_k", "past_v") else s
            for n, s in specs.items()
        }
        of = {name: loops.buffer(name, spec) for name, spec in flat.items()}
        y = loops.buffer("y", output)
        heads, queries, size, rows = (a[n] for n in ("heads", "queries", "size", "rows"))
        past, width = a["keys"] - rows, heads // a["group"] * size

        def through(name: str, value: Any) -> Any:
            if f"{name}_table" in of:
                value = i32(of[f"{name}_table"][value - specs[name].range[0]])
            return value - a[f"zero_point_{name}"]

        def query_at(head: Any, query: Any, i: Any) -> Any:
            place = head * a["q_head_stride"] + query * a["q_stride"] + i + a["q_offset"]
            return through("q", i32(of["q"][place]))

        def at(name: str, old: bool, head: Any, row: Any, i: Any) -> Any:
            shared = head if a["group"] == 1 else tirx.truncdiv(head, i32(a["group"]))
            if old:
                return through(name, i32(of[f"past_{name}"][row * width + shared * size + i]))
            place = shared * a[f"{name}_head_stride"] + row * a[f"{name}_stride"] + i + a[f"{name}_offset"]
            return through(name, i32(of[name][place]))

        def score(old: bool, head: Any, query: Any, row: Any) -> Any:
            acc = loops.sum("dot", "i", size, lambda i: query_at(head, query, i) * at("k", old, head, row, i))
            product = acc.value.astype("float32") * tirx.const(a["logit_scale"], "float32")
            index = call("round_within", product, a["logit_low"], a["logit_high"]) - a["logit_low"]
            kind: Any = i32(0)
            if "mask" in of:
                mask_heads, mask_queries, _ = specs["mask"].shape
                column = row if old else row + past
                kind = i32(
                    of["mask"][head if mask_heads > 1 else i32(0), query if mask_queries > 1 else i32(0), column]
                )
            return loops.bind("score", i32(of["table"][kind, index]))

        def over_keys(visit: Any) -> None:
            # Loops of a known length: what they cost at most is known then, too.
            with loops.loop("row", past) as row, loops.when(row < of["length"][0]):
                visit(True, row)
            with loops.loop("row", rows) as row:
                visit(False, row)

        with loops.parallel("place", heads * queries) as place:
            head = loops.bind("head", tirx.truncdiv(place, i32(queries)))
            query = loops.bind("query", tirx.truncmod(place, i32(queries)))
            best = loops.scalar("best", 0)
            over_keys(lambda old, row: best.set(tirx.max(best.value, score(old, head, query, row))))
            total = loops.scalar("total", 0)

            def exponential(old: bool, row: Any) -> Any:
                return of["exponential"][best.value - score(old, head, query, row)]

            over_keys(lambda old, row: total.set(total.value + exponential(old, row)))
            factor = loops.bind("factor", tirx.const(a["gain"], "float32") / total.value.astype("float32"))
            with loops.loop("j", size) as j:
                acc = loops.scalar("acc", 0)

                def add(old: bool, row: Any, j: Any = j, acc: Any = acc) -> None:
                    e = exponential(old, row).astype("float32")
                    p = loops.bind("p", call("round_within", e * factor, 0, a["probability_high"]))
                    acc.set(acc.value + p * at("v", old, head, row, j))

                over_keys(add)
                there = [i32(0), *((head, query) if a["y_layout"] == "hsd" else (query, head)), j]
                value = acc.value.astype("float32") * tirx.const(a["value_scale"], "float32")
                rounded = call("round_within", value, a["low"], a["high"]) + a["zero_point"]
                loops.store(y, there, rounded.astype(output.dtype))

    def macs(self, attributes: Attributes, inputs: Specs, output: TensorSpec) -> int:
        return QdqAttention().macs(attributes, inputs, output)
