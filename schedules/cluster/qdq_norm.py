"""Normalizations of quantize/dequantize graphs: whole rows, single precision inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.cluster.base import SLACK, TYPES, Arguments, KernelForm
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.qdq_norm import limits_of, stage_operands
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis

# Stages that the kernel's arguments have room for.
_STAGES = 2


def applies(layer: Layer) -> bool:
    """As many stages of weights as the kernel has."""
    return len(layer.attributes["biases"]) <= _STAGES


@dataclass(frozen=True)
class QdqNormKernel(KernelForm):
    name: str = "qdq_norm kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        reals = np.array([a[n] for n in ("statistic", "epsilon", "gain")], np.float32)
        reals_at = arguments.load_whole("reals", self.derived.constant(f"{layer.name}_reals", reals))
        table, stages = stage_operands(a, layer.inputs)
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        limits = [pair or (0, 0) for pair in limits_of(a)]
        low, high = limits.pop()
        fields: dict[str, Any] = {
            "x": x, "y": Pointer(y), "reals": reals_at, "rows": box.elements // box.size[-1], "columns": box.size[-1],
            "table": 0 if table is None else arguments.load_whole("table", table), "centred": a["centred"],
            "x_type": TYPES[layer.inputs[0].spec.dtype], "stages": len(stages), "zero_point_x": a["zero_point_x"],
            "rounds": sum(1 << i for i, rounds in enumerate(a["rounds"][:-1]) if rounds),
            "index_low": a["index_limits"][0], "index_high": a["index_limits"][1], "low": low, "high": high,
            "zero_point": a["zero_point"],
        }  # fmt: skip
        for i in range(_STAGES):
            weight, bias = stages[i] if i < len(stages) else (None, None)
            lowest, highest = limits[i] if i < len(stages) else (0, 0)
            fields |= {f"low{i}": lowest, f"high{i}": highest}
            for name, tensor in (("weight", weight), ("bias", bias)):
                fields[f"{name}{i}"] = 0 if tensor is None else arguments.load_whole(f"{name}{i}", tensor)
        return arguments.finish("qdq_norm", "qdq_norm", fields, (y, layer.outputs[0], box), self.costs)
