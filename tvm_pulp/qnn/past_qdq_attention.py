"""Attention of a quantize/dequantize graph over a cache and new rows.

Operands: q, k, v, past_k, past_v, length, [q_table, k_table, mask,] table, exponential. As `qdq_attention`, where keys
and values are the first `length` rows of past_k and past_v, [1, past, heads / group, size] each, and then k and v,
the `rows` new ones; `keys` is past + rows. Columns of the mask belong to all rows of the past and then to the new ones;
those of the past are all alike. Rows of the past from `length` on hold anything.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.qnn import qdq_attention
from tvm_pulp.qnn.operator import Arrays, Attributes, register
from tvm_pulp.qnn.qdq_attention import QdqAttention, Segment

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
class PastQdqAttention(QdqAttention):
    loop_names = ("place", "row")

    def named(self, attributes: Attributes, values: Sequence[Any]) -> dict[str, Any]:
        return operands(attributes, values)

    def segments(self, attributes: Attributes, of: dict[str, Any]) -> list[Segment]:
        """Those of the cache that count, then the new ones."""
        past = attributes["keys"] - attributes["rows"]
        return [Segment(past, is_past=True, end=of["length"][0]), Segment(attributes["rows"], past)]

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
