"""Attention of quantize/dequantize graphs over a cache: new rows are put behind those of the past that count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.cluster.base import SLACK, TYPES, Arguments
from schedules.cluster.qdq_attention import QdqAttentionKernel
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.past_qdq_attention import operands
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Load, Local, Pointer, Recipe


def applies(layer: Layer) -> bool:
    """Heads of whole words, new rows that lie side by side as those of the past do."""
    a = layer.attributes
    width = a["heads"] // a["group"] * a["size"]
    together = all(
        a[f"{n}_offset"] == 0
        and (a["heads"] == a["group"] or a[f"{n}_head_stride"] == a["size"])
        and (a["rows"] == 1 or a[f"{n}_stride"] == width)
        and layer.inputs[place].spec.elements == a["rows"] * width
        for place, n in ((1, "k"), (2, "v"))
    )
    return bool(a["size"] % 4 == 0 and a["keys"] >= 4 and together)


@dataclass(frozen=True)
class PastQdqAttentionKernel(QdqAttentionKernel):
    name: str = "past_qdq_attention kernel"

    def named(self, tensors: list[Tensor]) -> dict[str, Tensor]:
        return operands(self.layer.attributes, tensors)

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        of = operands(a, layer.inputs)
        at = 2 if a["y_layout"] == "hsd" else 1
        size, width = a["size"], a["heads"] // a["group"] * a["size"]
        queries = (box.start[at], box.size[at])
        arguments = Arguments()
        whole = self.operand(arguments, "q", of["q"], queries)
        for name in ("k", "v"):
            whole |= self._past(arguments, name, of, a["rows"] * width)
        whole |= self.mask(arguments, of.get("mask"), queries)
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        whole |= self.rest(arguments, of, y, queries)
        scratch = whole["scratch"].operand
        fields = {f"whole.{name}": value for name, value in whole.items()}
        fields |= {f"new_{n}": arguments.load_whole(f"new_{n}", of[n]) for n in ("k", "v")}
        fields |= {"length": arguments.load_whole("length", of["length"]), "rows": a["rows"]}
        # Plans are made for a cache that is half full.
        expected = {**whole, "keys": a["keys"] // 2, "size": size}
        target = (y, layer.outputs[0], box)
        name = "past_qdq_attention"
        return arguments.finish(name, name, fields, target, self.costs, [scratch], expected)

    def _past(self, arguments: Arguments, name: str, of: dict[str, Tensor], room: int) -> dict[str, Any]:
        """Pointer and strides of past keys or values, with room for the new ones."""
        a, past = self.layer.attributes, of[f"past_{name}"]
        where: Local | Tensor = past
        if past.storage.level != "l1":
            where = Local(f"past_{name}", past.spec, room + SLACK)
            arguments.steps.append(Load(past, Box.whole(past.spec.shape), where))
        arguments.reads.append(where)
        table = of.get(f"{name}_table")
        fields: dict[str, Any] = {
            name: Pointer(where),
            f"{name}_head_stride": a["size"],
            f"{name}_stride": int(np.prod(past.spec.shape[2:])),
            f"{name}_type": TYPES[(table or past).spec.dtype],
            f"zero_point_{name}": a[f"zero_point_{name}"],
        }
        if name == "k":
            fields["k_table"] = 0 if table is None else self.byte_table(arguments, "k_table", table, past)
        return fields
