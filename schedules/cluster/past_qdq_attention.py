"""Attention of quantize/dequantize graphs over a cache: new rows are put behind those of the past that count."""

import numpy as np

from schedules.cluster.arithmetic import typed
from schedules.cluster.base import SLACK, Arguments, Box, Fields, Layer, Schedule, Tensor, register
from schedules.cluster.qdq_attention import QdqAttentionKernel, qdq_attention_work
from schedules.kernel_cycles import Work, words, work
from tvm_pulp.qnn.past_qdq_attention import operands
from tvm_pulp.uma.recipe import Load, Local, Pointer


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


class PastQdqAttentionKernel(QdqAttentionKernel):
    kernel, result = "past_qdq_attention", "whole.y"

    def named(self, tensors: list[Tensor]) -> dict[str, Tensor]:
        return operands(self.layer.attributes, tensors)

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, of, queries = self.layer.attributes, self.named(self.layer.inputs), self.queries(box)
        whole = self.operand(call, "q", of["q"], queries)
        for name in ("k", "v"):
            whole |= self._past(call, name, of, a["rows"] * a["heads"] // a["group"] * a["size"])
        whole |= self.mask(call, of.get("mask"), queries) | self.rest(call, of, queries)
        # Plans are made for a cache that is half full.
        call.expected = {**whole, "keys": a["keys"] // 2, "size": a["size"]}
        new = {f"new_{n}": call.load_whole(f"new_{n}", of[n]) for n in ("k", "v")}
        length = {"length": call.load_whole("length", of["length"]), "rows": a["rows"]}
        return {**{f"whole.{name}": value for name, value in whole.items()}, **new, **length}

    def _past(self, call: Arguments, name: str, of: dict[str, Tensor], room: int) -> Fields:
        """Pointer and strides of past keys or values, with room for the new ones."""
        a, past = self.layer.attributes, of[f"past_{name}"]
        where: Local | Tensor = past
        if past.storage.level != "l1":
            where = Local(f"past_{name}", past.spec, room + SLACK)
            call.steps.append(Load(past, Box.whole(past.spec.shape), where))
        call.reads.append(where)
        table = of.get(f"{name}_table")
        fields: Fields = {
            name: Pointer(where),
            f"{name}_head_stride": a["size"],
            f"{name}_stride": int(np.prod(past.spec.shape[2:])),
            f"{name}_type": typed(table or past),
            f"zero_point_{name}": a[f"zero_point_{name}"],
        }
        if name == "k":
            fields["k_table"] = 0 if table is None else self.byte_table(call, "k_table", table, past)
        return fields


@work("past_qdq_attention")
def past_qdq_attention_work(f: Fields, cores: int) -> Work:
    """A call does not tell how many keys there are: plans state `keys` as they expect it."""
    whole = {name.removeprefix("whole."): value for name, value in f.items()}
    if "keys" not in f:
        whole["keys"] = int(f["length"][0]) + f["rows"]
    row = whole["heads"] // whole["group"] * whole["size"]
    return qdq_attention_work(whole, cores) | {"appended": f["rows"] * words(row)}


register("past_qdq_attention", Schedule(applies, PastQdqAttentionKernel))
