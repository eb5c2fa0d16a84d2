"""Attention of quantize/dequantize graphs in one kernel; queries are split into tiles where L1 is small."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.byte_tables import by_stored_byte
from schedules.cluster.base import SLACK, TYPES, Arguments, KernelForm, padded
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.qdq_attention import operands
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Load, Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis


def applies(layer: Layer) -> bool:
    """Heads of whole words, four keys or more."""
    return bool(layer.attributes["size"] % 4 == 0 and layer.attributes["keys"] >= 4)


def axis_of(spec: TensorSpec, stride: int, count: int) -> int | None:
    """The axis of `count` steps of `stride` elements."""
    for axis, size in enumerate(spec.shape):
        if size == count and math.prod(spec.shape[axis + 1 :]) == stride:
            return axis
    return None


@dataclass(frozen=True)
class QdqAttentionKernel(KernelForm):
    name: str = "qdq_attention kernel"

    def named(self, tensors: list[Tensor]) -> dict[str, Tensor]:
        """Operands by name."""
        return operands(self.layer.attributes, tensors)

    def axes(self) -> tuple[TileAxis, ...]:
        """Queries, where those of q are an axis of its tensor."""
        a = self.layer.attributes
        if a["queries"] == 1 or axis_of(self.layer.inputs[0].spec, a["q_stride"], a["queries"]) is None:
            return ()
        return (TileAxis(2 if a["y_layout"] == "hsd" else 1),)

    def operand(
        self, arguments: Arguments, name: str, tensor: Tensor, positions: tuple[int, int], packed: bool = False
    ) -> dict[str, Any]:
        """Pointer and strides of q, k or v: no more of the tensor is loaded than positions and columns ask for.

        `packed`: operands that lie in one tensor share all of it, which can then stay in L1.
        """
        a, shape = self.layer.attributes, tensor.spec.shape
        offset, head_stride, stride = (a[f"{name}_{n}"] for n in ("offset", "head_stride", "stride"))
        start, size = [0] * len(shape), list(shape)
        heads = a["heads"] // (1 if name == "q" else a["group"])
        every = a["queries" if name == "q" else "keys"]
        # All heads side by side in rows of the last axis: only their columns.
        width = head_stride * (heads - 1) + a["size"]
        whole = packed and sum(t is tensor for t in self.layer.inputs[:3]) > 1
        if not whole and stride == shape[-1] > width and offset < stride and offset + width <= stride:
            start[-1], size[-1] = offset, width
            offset, stride = 0, width
        axis = axis_of(tensor.spec, a[f"{name}_stride"], every)
        if positions != (0, every) and axis is not None:
            start[axis], size[axis] = positions
            if head_stride > a[f"{name}_stride"]:
                head_stride = head_stride // every * positions[1]
        box = Box(tuple(start), tuple(size))
        loaded = (step.local for step in arguments.steps if isinstance(step, Load) and step.tensor is tensor)
        shared = next(loaded, None) if whole else None
        local = shared or arguments.load(name, tensor, box).operand
        strides = {f"{name}_head_stride": head_stride, f"{name}_stride": stride}
        table = self.named(self.layer.inputs).get(f"{name}_table")
        types: dict[str, Any] = {
            f"{name}_type": TYPES[(table or tensor).spec.dtype],
            f"zero_point_{name}": a[f"zero_point_{name}"],
        }
        if name != "v":
            types[f"{name}_table"] = 0 if table is None else self.byte_table(arguments, f"{name}_table", table, tensor)
        return {name: Pointer(local, offset), **strides, **types}

    def byte_table(self, arguments: Arguments, name: str, table: Tensor, source: Tensor) -> Pointer:
        assert table.data is not None
        stored = by_stored_byte(table.data, source.spec.dtype)
        return arguments.load_whole(name, self.derived.constant(f"{self.layer.name}_{name}", stored))

    def mask(self, arguments: Arguments, tensor: Tensor | None, queries: tuple[int, int]) -> dict[str, Any]:
        if tensor is None:
            return {"mask": 0, "mask_head_stride": 0, "mask_stride": 0}
        heads, rows, keys = tensor.spec.shape
        part = queries if rows > 1 else (0, 1)
        pointer = arguments.load("mask", tensor, Box((0, part[0], 0), (heads, part[1], keys)))
        return {
            "mask": pointer,
            "mask_head_stride": part[1] * keys if heads > 1 else 0,
            "mask_stride": keys if rows > 1 else 0,
        }

    def rest(self, arguments: Arguments, of: dict[str, Tensor], y: Local, queries: tuple[int, int]) -> dict[str, Any]:
        """All fields but those of q, k, v and the mask."""
        layer, a = self.layer, self.layer.attributes
        size, heads = a["size"], a["heads"]
        reals = np.array([a[n] for n in ("logit_scale", "gain", "value_scale")], np.float32)
        translated = size * (a["has_q_table"] + a["keys"] * a["has_k_table"])
        scratch, stride = self.scratch((size + 9) * padded(a["keys"]) + translated)
        by_head = a["y_layout"] == "hsd"
        names = ("logit_low", "logit_high", "probability_high", "low", "high", "zero_point", "keys", "size", "group")
        return {
            "table": arguments.load_whole("table", of["table"]), "y": Pointer(y), "scratch": Pointer(scratch),
            "exponential": arguments.load_whole("exponential", of["exponential"]), "scratch_stride": stride,
            "reals": arguments.load_whole("reals", self.derived.constant(f"{layer.name}_reals", reals)),
            "heads": heads, "queries": queries[1], "y_head_stride": queries[1] * size if by_head else size,
            "y_stride": size if by_head else heads * size, **{n: a[n] for n in names},
        }  # fmt: skip

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        of = operands(a, layer.inputs)
        at = 2 if a["y_layout"] == "hsd" else 1
        queries = (box.start[at], box.size[at])
        arguments = Arguments()
        fields: dict[str, Any] = {}
        for name, positions in (("q", queries), ("k", (0, a["keys"])), ("v", (0, a["keys"]))):
            fields |= self.operand(arguments, name, of[name], positions, queries == (0, a["queries"]))
        fields |= self.mask(arguments, of.get("mask"), queries)
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        fields |= self.rest(arguments, of, y, queries)
        target = (y, layer.outputs[0], box)
        scratch = fields["scratch"].operand
        return arguments.finish("qdq_attention", "qdq_attention", fields, target, self.costs, [scratch])
