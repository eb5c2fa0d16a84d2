"""The sum of unrounded results: whole pixels, channels last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.cluster.base import SLACK, TYPES, Arguments, KernelForm
from tvm_pulp.qnn.add_accumulators import SIDES
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis


def applies(layer: Layer) -> bool:
    """Channels last, bytes as the result."""
    rank = len(layer.outputs[0].spec.shape)
    last = layer.attributes["axis"] % rank == rank - 1
    known = all(t.data is not None for t in layer.inputs[2:])
    return known and last and layer.outputs[0].spec.dtype in ("int8", "uint8")


@dataclass(frozen=True)
class AddAccumulatorsKernel(KernelForm):
    name: str = "add_accumulators kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return tuple(TileAxis(a) for a in range(len(self.layer.outputs[0].spec.shape) - 1))

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        arguments = Arguments()
        columns = box.size[-1]
        fields: dict[str, Any] = {"rows": box.elements // columns, "columns": columns}
        # The kernel wants accumulators first.
        order = (0, 1) if layer.inputs[0].spec.dtype == "int32" else (1, 0)
        for side, position in zip(SIDES, order, strict=True):
            x, mul, theirs = layer.inputs[position], layer.inputs[2 + position], SIDES[position]
            assert mul.data is not None
            if x.spec.dtype == "int32" and mul.spec.elements < columns:
                spread = np.broadcast_to(mul.data.reshape(-1), (columns,))
                mul = self.derived.constant(f"{layer.name}_mul_{side}", np.ascontiguousarray(spread))
            fields |= {
                side: arguments.load(side, x, box), f"mul_{side}": arguments.load_whole(f"mul_{side}", mul),
                f"{side}_type": TYPES[x.spec.dtype], f"left_{side}": a[f"left_{theirs}"],
                f"zero_point_{side}": a[f"zero_point_{theirs}"],
            }  # fmt: skip
        y, rule = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK), Requant.of(a)
        fields |= {
            "y": Pointer(y), "fraction": a["fraction"], "zero_point": rule.zero_point, "low": rule.low,
            "high": rule.high,
        }  # fmt: skip
        return arguments.finish("add_accumulators", "add_accumulators", fields, (y, layer.outputs[0], box), self.costs)
