"""Blocks of 2 x 2 pixels as channels, cut into rows."""

from __future__ import annotations

from dataclasses import dataclass

from schedules.cluster.base import SLACK, Arguments, KernelForm
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis


def applies(layer: Layer) -> bool:
    """8-bit values."""
    return layer.inputs[0].spec.dtype in ("int8", "uint8")


@dataclass(frozen=True)
class SpaceToDepthKernel(KernelForm):
    name: str = "space_to_depth kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, self.layer.attributes
        planar = a["layout"] == "NCHW"
        shape = layer.inputs[0].spec.shape
        rows = (2 * box.start[1], 2 * box.size[1])
        if planar:
            source = Box((box.start[0], 0, rows[0], 0), (1, shape[1], rows[1], shape[3]))
        else:
            source = Box((box.start[0], rows[0], 0, 0), (1, rows[1], *shape[2:]))
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], source)
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        channels = box.size[3] // 4
        fields = {
            "x": x, "y": Pointer(y), "height": box.size[1], "width": box.size[2], "channels": channels,
            "is_planar": int(planar), "flip": 0x80 if a["unsigned"] else 0,
        }  # fmt: skip
        return arguments.finish("space_to_depth", "space_to_depth", fields, (y, layer.outputs[0], box), self.costs)
