"""Products of two activations."""

from __future__ import annotations

import math
from dataclasses import dataclass

from schedules.cluster.base import (
    SLACK,
    TYPES,
    Arguments,
    KernelForm,
    accumulator_reach,
    padded,
    uniform_requant,
)
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes, tile_part
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis


def applies(layer: Layer) -> bool:
    """8-bit operands whose batches are equal, or of which one is not batched."""
    a, b = layer.inputs[0].spec, layer.inputs[1].spec
    if not {a.dtype, b.dtype} <= {"int8", "uint8"} or not uniform_requant(layer, accumulator_reach(layer)):
        return False
    return batch_of(a.shape) == batch_of(b.shape) or 1 in (math.prod(a.shape[:-2]), math.prod(b.shape[:-2]))


def batch_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Batch axes without leading ones."""
    batch = list(shape[:-2])
    while batch and batch[0] == 1:
        batch.pop(0)
    return tuple(batch)


@dataclass(frozen=True)
class MatmulKernel(KernelForm):
    name: str = "matmul kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def recipe(self, box: Box) -> Recipe:
        layer, out = self.layer, self.layer.outputs[0]
        part = tile_part(layer, box)
        arguments = Arguments()
        a = arguments.load("a", layer.inputs[0], part.inputs[0])
        b = arguments.load("b", layer.inputs[1], part.inputs[1])
        y = Local("y", TensorSpec(box.size, out.spec.dtype), SLACK)
        *lead, rows, columns = box.size
        batch = math.prod(lead)
        depth = layer.inputs[0].spec.shape[-1]
        transposed = int(layer.attributes["transpose_b"])
        # Four columns of b; and four rows of a, unless they can be used where they are.
        scratch, stride = self.scratch((4 if depth % 4 == 0 else 8) * padded(depth) + 4)
        itemsize = out.spec.bytes // out.spec.elements
        b_stride = depth if transposed else columns
        b_size = depth * columns
        requant = arguments.requant(layer, slice(box.start[-1], box.start[-1] + columns))
        a_batch = rows * depth if part.inputs[0].elements > rows * depth or batch == 1 else 0
        b_batch = b_size if part.inputs[1].elements > b_size or batch == 1 else 0
        fields = {
            "a": a, "b": b, "y": Pointer(y), "scratch": Pointer(scratch), "scratch_stride": stride, "batch": batch,
            "rows": rows, "columns": columns, "depth": depth, "a_stride": depth, "b_stride": b_stride,
            "y_stride": columns * itemsize, "a_batch_stride": a_batch, "b_batch_stride": b_batch,
            "y_batch_stride": rows * columns * itemsize, "transpose_b": transposed,
            "a_type": TYPES[layer.inputs[0].spec.dtype], "b_type": TYPES[layer.inputs[1].spec.dtype],
            "zero_point_a": layer.attributes["zero_point_a"], "zero_point_b": layer.attributes["zero_point_b"],
            **requant,
        }  # fmt: skip
        return arguments.finish("matmul", "matmul", fields, (y, out, box), self.costs, [scratch])


def applies_rope(layer: Layer) -> bool:
    """x[1, positions, heads, size] times a matrix per position: rotary embedding."""
    a, b = layer.inputs[0].spec, layer.inputs[1].spec
    shaped = len(a.shape) == 4 and b.shape == (1, a.shape[1], a.shape[3], a.shape[3]) and a.shape[0] == 1
    plain = not any(layer.attributes[k] for k in ("transpose_b", "zero_point_a", "zero_point_b"))
    scalar = all(t.spec.elements == 1 for t in layer.inputs[2:])
    return bool(shaped and plain and scalar and a.dtype == b.dtype == "int8" and applies(layer))


@dataclass(frozen=True)
class RopeKernel(KernelForm):
    name: str = "rope kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1),)

    def recipe(self, box: Box) -> Recipe:
        layer, out = self.layer, self.layer.outputs[0]
        part = tile_part(layer, box)
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], part.inputs[0])
        rotation = arguments.load("rotation", layer.inputs[1], part.inputs[1])
        y = Local("y", TensorSpec(box.size, out.spec.dtype), SLACK)
        _, positions, heads, size = box.size
        fields = {
            "x": x, "rotation": rotation, "y": Pointer(y), "positions": positions, "heads": heads, "size": size,
            **arguments.requant(layer, None),
        }  # fmt: skip
        return arguments.finish("rope", "rope", fields, (y, out, box), self.costs)
