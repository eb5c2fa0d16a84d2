"""Dense layers and 1x1 convolutions without padding: rows times packed weights."""

from __future__ import annotations

from dataclasses import dataclass

from schedules.cluster.base import (
    SLACK,
    TYPES,
    Arguments,
    KernelForm,
    accumulator_reach,
    are_bytes,
    folded_bias,
    padded,
    uniform_requant,
)
from schedules.packed_weights import offset_weights, pack_weights
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis


def applies(layer: Layer) -> bool:
    """8-bit inputs and constant weights of eight bits; a convolution must be 1x1 with stride 1."""
    weight = layer.inputs[1]
    if layer.inputs[0].spec.dtype not in ("int8", "uint8") or not are_bytes(weight):
        return False
    if layer.operator == "conv2d":
        a = layer.attributes
        plain = list(a["strides"]) == [1, 1] and not any(a["pads"]) and a["groups"] == 1
        if not plain or weight.spec.shape[1:3] != (1, 1):
            return False
    return uniform_requant(layer, accumulator_reach(layer))


def _may_omit_bias(layer: Layer, rows: int, columns: int) -> bool:
    """Whether the kernel takes no bias for zeros: one row in whole tiles, narrow requantization to bytes."""
    rule = Requant.of(layer.attributes)
    return rows == 1 and columns % 4 == 0 and rule.kind == "pulp" and not rule.wide and rule.out_dtype != "int32"


@dataclass(frozen=True)
class DenseKernel(KernelForm):
    name: str = "dense kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        rank = len(self.layer.outputs[0].spec.shape)
        return (*(TileAxis(a) for a in range(rank - 1)), TileAxis(rank - 1, 4))

    def recipe(self, box: Box) -> Recipe:
        depth = self.layer.inputs[0].spec.shape[-1]
        arguments = Arguments()
        x_box = Box((*box.start[:-1], 0), (*box.size[:-1], depth))
        x = arguments.load("x", self.layer.inputs[0], x_box)
        return self.product(arguments, x, depth, box)

    def product(self, arguments: Arguments, x: Pointer, depth: int, box: Box) -> Recipe:
        """Rows of `depth` bytes at x times the weights of the box's channels."""
        layer, out = self.layer, self.layer.outputs[0]
        weights = layer.inputs[1].data
        assert weights is not None
        first, columns = box.start[-1], box.size[-1]
        rows = box.elements // columns
        matrix = weights.reshape(weights.shape[0], -1)
        stored = offset_weights(matrix)
        assert stored is not None
        part = stored[0][first : first + columns]
        packed = self.derived.constant(f"{layer.name}_packed_{first}_{columns}", pack_weights(part))
        weight = arguments.load_whole("weight", packed)
        zero_point = layer.attributes["zero_point"]
        folded = folded_bias(layer, matrix, zero_point)
        bias_at: Pointer | int = 0
        if folded.any() or not _may_omit_bias(layer, rows, columns):
            bias = self.derived.constant(f"{layer.name}_folded_bias", folded)
            bias_at = arguments.load("bias", bias, Box((first,), (columns,)))
        y = Local("y", TensorSpec(box.size, out.spec.dtype), SLACK)
        unaligned = depth % 4 != 0 and rows > 1
        scratch, stride = self.scratch(4 * padded(depth) + 4 if unaligned else 4)
        requant = arguments.requant(layer, slice(first, first + columns), promised=self.promised)
        itemsize = out.spec.bytes // out.spec.elements
        fields = {
            "x": x, "weight": weight, "bias": bias_at, "y": Pointer(y), "scratch": Pointer(scratch),
            "scratch_stride": stride, "rows": rows, "columns": columns, "depth": depth, "x_stride": depth,
            "depth_stride": padded(depth), "y_stride": columns * itemsize,
            "x_type": TYPES[layer.inputs[0].spec.dtype], "weight_offset": stored[1], **requant,
        }  # fmt: skip
        return arguments.finish("dense", "dense", fields, (y, out, box), self.costs, [scratch])
