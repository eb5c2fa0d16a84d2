"""Averages over windows that change the scale: sums of the values, requantized."""

from __future__ import annotations

from dataclasses import dataclass

from schedules.cluster.base import SLACK, TYPES, Arguments, KernelForm, uniform_requant
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.tiling.forms.tile_rules import RULES
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis


def applies(layer: Layer) -> bool:
    """8-bit values, one multiplier whatever a window holds."""
    rule = Requant.of(layer.attributes)
    x, constants = layer.inputs[0].spec, layer.inputs[1:]
    plain = x.dtype in ("int8", "uint8") and rule.kind != "none" and rule.out_dtype in ("int8", "uint8")
    taps = layer.attributes["kernel"][0] * layer.attributes["kernel"][1]
    return plain and all(t.spec.elements == 1 for t in constants) and uniform_requant(layer, 512 * taps)


@dataclass(frozen=True)
class MeanPoolKernel(KernelForm):
    name: str = "mean_pool kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(3, 4), TileAxis(2), TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        part = RULES[layer.operator].part(layer, box)
        source, pads = part.inputs[0], part.attributes["pads"]
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], source)
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        pool = {
            "x": x, "y": Pointer(y), "height": source.size[1], "width": source.size[2], "channels": box.size[3],
            "out_height": box.size[1], "out_width": box.size[2], "kernel_height": a["kernel"][0],
            "kernel_width": a["kernel"][1], "stride_y": a["strides"][0], "stride_x": a["strides"][1],
            "dilation_y": a["dilation"][0], "dilation_x": a["dilation"][1], "pad_top": pads[0], "pad_left": pads[1],
            "x_type": TYPES[layer.inputs[0].spec.dtype], "low": 0, "high": 0,
        }  # fmt: skip
        fields = {
            **{f"pool.{name}": value for name, value in pool.items()}, "zero_point": a["zero_point"],
            **arguments.requant(layer, None),
        }  # fmt: skip
        return arguments.finish("mean_pool", "mean_pool", fields, (y, layer.outputs[0], box), self.costs)
