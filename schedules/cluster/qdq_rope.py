"""Rotary embedding of quantize/dequantize graphs: whole rows, cosines and sines of their positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.byte_tables import by_stored_byte
from schedules.cluster.base import SLACK, TYPES, Arguments, KernelForm
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis


def applies(layer: Layer) -> bool:
    """Constant tables."""
    return all(t.data is not None for t in layer.inputs[3:])


@dataclass(frozen=True)
class QdqRopeKernel(KernelForm):
    name: str = "qdq_rope kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        """The outer axis: a tile has whole positions, or all of them."""
        return (TileAxis(1),)

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        x, cosine, sine, first, second = layer.inputs
        arguments = Arguments()
        x_at = arguments.load("x", x, box)
        by_outer = a["position_axis"] == 1
        start, count = (box.start[1], box.size[1]) if by_outer else (0, box.size[2])
        angles: dict[str, Any] = {}
        for name, tensor in (("cosine", cosine), ("sine", sine)):
            shape = tensor.spec.shape
            axis = next((i for i, d in enumerate(shape[:-1]) if d == tensor.spec.elements // shape[-1]), 0)
            begin, size = [0] * len(shape), list(shape)
            begin[axis], size[axis] = start, count
            angles[name] = arguments.load(name, tensor, Box(tuple(begin), tuple(size)))
            angles |= {f"{name}_type": TYPES[tensor.spec.dtype], f"zero_point_{name}": a[f"zero_point_{name}"]}
        tables: dict[str, Any] = {}
        for name, tensor in (("first", first), ("second", second)):
            assert tensor.data is not None
            made = self.derived.constant(f"{layer.name}_{name}", by_stored_byte(tensor.data, x.spec.dtype))
            tables[name] = arguments.load_whole(name, made)
        names = ("kept_scale", "turned_scale", "kept_weight", "turned_weight")
        reals = self.derived.constant(f"{layer.name}_reals", np.array([a[n] for n in names], np.float32))
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        kept = ("zero_point_x", "zero_point_partner", "kept_low", "kept_high", "turned_low", "turned_high")
        fields = {
            "x": x_at, "y": Pointer(y), "reals": arguments.load_whole("reals", reals), **angles, **tables,
            "rows": box.size[1] * box.size[2], "size": box.size[3],
            "rows_per_position": box.size[2] if by_outer else 1, "positions": count,
            "x_type": TYPES[x.spec.dtype], "partner_type": TYPES[first.spec.dtype],
            **{n: a[n] for n in (*kept, "low", "high", "zero_point")},
        }  # fmt: skip
        return arguments.finish("qdq_rope", "qdq_rope", fields, (y, layer.outputs[0], box), self.costs)
