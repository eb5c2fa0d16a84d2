"""Dense layers and 1x1 convolutions without padding: rows times packed weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedules.cluster.available import lays_out_rows
from schedules.cluster.base import (
    SLACK,
    TYPES,
    TYPES_16,
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
    return are_rows(layer) and uniform_requant(layer, accumulator_reach(layer))


def are_rows(layer: Layer) -> bool:
    """Whether the input's pixels are the rows of the product."""
    if layer.operator != "conv2d":
        return True
    a = layer.attributes
    plain = list(a["strides"]) == [1, 1] and not any(a["pads"]) and a["groups"] == 1
    return bool(plain and layer.inputs[1].spec.shape[1:3] == (1, 1))


def applies_int16(layer: Layer) -> bool:
    """16-bit inputs, constant weights of at most 16 bits, accumulators that stay inside 32."""
    return are_rows(layer) and multiplies_int16(layer)


def multiplies_int16(layer: Layer) -> bool:
    """Whether the kernel's product of 16-bit values can compute a layer."""
    weight, reach = layer.inputs[1], accumulator_reach(layer)
    plain = (
        layer.inputs[0].spec.dtype in TYPES_16 and weight.data is not None and weight.spec.dtype in ("int8", "int16")
    )
    return plain and reach is not None and reach < 1 << 31 and uniform_requant(layer, reach)


def _may_omit_bias(layer: Layer, rows: int, columns: int) -> bool:
    """Whether the kernel takes no bias for zeros: one row in whole tiles, narrow requantization to bytes."""
    rule = Requant.of(layer.attributes)
    return rows == 1 and columns % 4 == 0 and rule.kind == "pulp" and not rule.wide and rule.out_dtype != "int32"


def packed_parts(layer: Layer, matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Weights as the kernel multiplies them, as bytes, and what it adds to each."""
    if layer.inputs[0].spec.dtype in TYPES_16:
        return np.ascontiguousarray(matrix.astype("<i2")).view(np.int8), 0
    stored = offset_weights(matrix)
    assert stored is not None
    return stored


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
        """Rows of `depth` values at x times the weights of the box's channels."""
        layer, out = self.layer, self.layer.outputs[0]
        weights = layer.inputs[1].data
        assert weights is not None
        first, columns = box.start[-1], box.size[-1]
        rows = box.elements // columns
        matrix = weights.reshape(weights.shape[0], -1)
        stored, offset = packed_parts(layer, matrix)
        row_bytes = depth * (layer.inputs[0].spec.bytes // layer.inputs[0].spec.elements)
        part = stored[first : first + columns]
        packed = self.derived.constant(f"{layer.name}_packed_{first}_{columns}", pack_weights(part))
        weight = arguments.load_whole("weight", packed)
        zero_point = layer.attributes["zero_point"]
        folded = folded_bias(layer, matrix, zero_point)
        bias_at: Pointer | int = 0
        if folded.any() or not _may_omit_bias(layer, rows, columns):
            bias = self.derived.constant(f"{layer.name}_folded_bias", folded)
            bias_at = arguments.load("bias", bias, Box((first,), (columns,)))
        y = Local("y", TensorSpec(box.size, out.spec.dtype), SLACK)
        copies = (row_bytes % 4 != 0 and rows > 1) or lays_out_rows(self.costs.soc.software.kernels)
        scratch, stride = self.scratch(4 * padded(row_bytes) + 4 if copies else 4)
        requant = arguments.requant(layer, slice(first, first + columns), promised=self.promised)
        itemsize = out.spec.bytes // out.spec.elements
        fields = {
            "x": x, "weight": weight, "bias": bias_at, "y": Pointer(y), "scratch": Pointer(scratch),
            "scratch_stride": stride, "rows": rows, "columns": columns, "depth": depth, "x_stride": row_bytes,
            "depth_stride": padded(row_bytes), "y_stride": columns * itemsize,
            "x_type": (TYPES | TYPES_16)[layer.inputs[0].spec.dtype], "weight_offset": offset, **requant,
        }  # fmt: skip
        return arguments.finish("dense", "dense", fields, (y, out, box), self.costs, [scratch])
