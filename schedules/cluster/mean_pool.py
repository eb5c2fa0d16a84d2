"""Averages over windows that change the scale: sums of the values, requantized."""

from __future__ import annotations

from dataclasses import dataclass

from schedules.cluster.base import Arguments, uniform_requant
from schedules.cluster.rows import PoolKernel
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Recipe


def applies(layer: Layer) -> bool:
    """8-bit values, one multiplier whatever a window holds."""
    rule = Requant.of(layer.attributes)
    x, constants = layer.inputs[0].spec, layer.inputs[1:]
    plain = x.dtype in ("int8", "uint8") and rule.kind != "none" and rule.out_dtype in ("int8", "uint8")
    taps = layer.attributes["kernel"][0] * layer.attributes["kernel"][1]
    return plain and all(t.spec.elements == 1 for t in constants) and uniform_requant(layer, 512 * taps)


@dataclass(frozen=True)
class MeanPoolKernel(PoolKernel):
    name: str = "mean_pool kernel"

    def recipe(self, box: Box) -> Recipe:
        arguments, layer = Arguments(), self.layer
        y, pool = self.windows(arguments, box)
        fields = {
            **{f"pool.{name}": value for name, value in pool.items()},
            "zero_point": layer.attributes["zero_point"],
            **arguments.requant(layer, None),
        }
        return arguments.finish("mean_pool", "mean_pool", fields, (y, layer.outputs[0], box), self.costs)
