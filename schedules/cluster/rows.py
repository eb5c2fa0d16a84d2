"""Row-wise operators: softmax, RMSNorm, LayerNorm; and pools and transposes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.byte_tables import exponentials, tflite_exponential_table
from schedules.cluster.base import SLACK, TYPES, Arguments, KernelForm
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes, tile_part
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis


@dataclass(frozen=True)
class RowKernel(KernelForm):
    """Whole rows of the last axis."""

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def out(self, box: Box) -> Local:
        return Local("y", TensorSpec(box.size, self.layer.outputs[0].spec.dtype), SLACK)

    def size(self, box: Box) -> tuple[int, int]:
        return box.elements // box.size[-1], box.size[-1]


def applies_i_softmax(layer: Layer) -> bool:
    """The form `i_softmax` on bytes, its exponentials rising, their sums inside 31 bits."""
    if layer.attributes["form"] != "i_softmax" or layer.inputs[0].spec.dtype not in ("int8", "uint8"):
        return False
    table = exponentials(layer.attributes)
    columns = layer.inputs[0].spec.shape[-1]
    # The kernel takes the first exponential for the largest.
    rising = table.min() >= 1 and table[255] == table.max()
    return bool(layer.attributes["levels"] <= 256 and rising and int(table.max()) * columns < 1 << 31)


@dataclass(frozen=True)
class ISoftmaxKernel(RowKernel):
    name: str = "i_softmax kernel"

    def recipe(self, box: Box) -> Recipe:
        layer, (rows, columns) = self.layer, self.size(box)
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        constant = self.derived.constant(f"{layer.name}_exponential", exponentials(layer.attributes).astype(np.uint32))
        table = arguments.load_whole("table", constant)
        y = self.out(box)
        scratch, stride = self.scratch(4 * columns + 16)
        fields = {
            "x": x, "y": Pointer(y), "table": table, "scratch": Pointer(scratch), "scratch_stride": stride,
            "rows": rows, "columns": columns, "x_type": TYPES[layer.inputs[0].spec.dtype],
            "levels": layer.attributes["levels"],
        }  # fmt: skip
        return arguments.finish("i_softmax", "i_softmax", fields, (y, layer.outputs[0], box), self.costs, [scratch])


def applies_ita(layer: Layer) -> bool:
    """The forms `ita_max` on bytes and `ita_partial_max` on int8."""
    form, dtype = layer.attributes["form"], layer.inputs[0].spec.dtype
    return (form == "ita_max" and dtype in ("int8", "uint8")) or (form == "ita_partial_max" and dtype == "int8")


@dataclass(frozen=True)
class ItaSoftmaxKernel(RowKernel):
    name: str = "softmax_ita kernel"

    def recipe(self, box: Box) -> Recipe:
        layer, (rows, columns) = self.layer, self.size(box)
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        y = self.out(box)
        group = layer.attributes["group"] if layer.attributes["form"] == "ita_partial_max" else 0
        fields = {
            "x": x, "y": Pointer(y), "rows": rows, "columns": columns, "x_type": TYPES[layer.inputs[0].spec.dtype],
            "levels": layer.attributes["levels"], "group": group,
        }  # fmt: skip
        return arguments.finish("softmax_ita", "softmax_ita", fields, (y, layer.outputs[0], box), self.costs)


def applies_tflite(layer: Layer) -> bool:
    """The form `tflite` on int8."""
    return layer.attributes["form"] == "tflite" and layer.inputs[0].spec.dtype == "int8"


@dataclass(frozen=True)
class TfliteSoftmaxKernel(RowKernel):
    name: str = "softmax_tflite kernel"

    def exponentials(self) -> Tensor:
        table = tflite_exponential_table(self.layer.attributes)
        return self.derived.constant(f"{self.layer.name}_exponential", table)

    def recipe(self, box: Box) -> Recipe:
        layer, (rows, columns) = self.layer, self.size(box)
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        table = arguments.load_whole("table", self.exponentials())
        y = self.out(box)
        fields = {"x": x, "y": Pointer(y), "table": table, "rows": rows, "columns": columns}
        return arguments.finish("softmax_tflite", "softmax_tflite", fields, (y, layer.outputs[0], box), self.costs)


def applies_norm(layer: Layer) -> bool:
    """Constant weights whose double fits 32 bits."""
    weight = layer.inputs[1].data
    if layer.inputs[0].spec.dtype not in TYPES or weight is None:
        return False
    return bool(np.abs(weight.astype(np.int64)).max(initial=0) < 1 << 30)


@dataclass(frozen=True)
class NormKernel(RowKernel):
    def doubled(self, weight: np.ndarray) -> Tensor:
        """Twice the weights, as the kernels take them."""
        doubled = (2 * weight.astype(np.int64)).astype(np.int32)
        return self.derived.constant(f"{self.layer.name}_double_weight", doubled)


@dataclass(frozen=True)
class RmsNormKernel(NormKernel):
    name: str = "rms_norm kernel"

    def recipe(self, box: Box) -> Recipe:
        layer, (rows, columns) = self.layer, self.size(box)
        a, weight = layer.attributes, layer.inputs[1].data
        assert weight is not None
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        weight_at = arguments.load_whole("weight", self.doubled(weight))
        y = self.out(box)
        magnitude = layer.inputs[0].spec.magnitude
        # The root is at most the largest |x|, plus one under it.
        reach = magnitude * int(np.abs(weight.astype(np.int64)).max(initial=0)) + ((magnitude + 1) << a["shift"])
        wide = int(reach >= 1 << 30)
        fields = {
            "x": x, "double_weight": weight_at, "y": Pointer(y), "rows": rows, "columns": columns,
            "x_type": TYPES[layer.inputs[0].spec.dtype], "levels": a["levels"], "shift": a["shift"], "wide": wide,
        }  # fmt: skip
        return arguments.finish("rms_norm", "rms_norm", fields, (y, layer.outputs[0], box), self.costs)


@dataclass(frozen=True)
class LayerNormKernel(NormKernel):
    name: str = "layer_norm kernel"

    def recipe(self, box: Box) -> Recipe:
        layer, (rows, columns) = self.layer, self.size(box)
        a, weight, bias = layer.attributes, layer.inputs[1].data, layer.inputs[2].data
        assert weight is not None and bias is not None
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        weight_at = arguments.load_whole("weight", self.doubled(weight))
        bias_at = arguments.load_whole("bias", layer.inputs[2])
        y = self.out(box)
        low, high = layer.inputs[0].spec.range
        reach = (high - low) * int(np.abs(weight.astype(np.int64)).max(initial=0))
        beyond = reach + int(np.abs(bias.astype(np.int64)).max(initial=0))
        wide = int(reach >= 1 << 30 or beyond >= 1 << 31)
        fields = {
            "x": x, "double_weight": weight_at, "bias": bias_at, "y": Pointer(y), "rows": rows, "columns": columns,
            "x_type": TYPES[layer.inputs[0].spec.dtype], "levels": a["levels"], "shift": a["shift"], "wide": wide,
        }  # fmt: skip
        return arguments.finish("layer_norm", "layer_norm", fields, (y, layer.outputs[0], box), self.costs)


def applies_pool(layer: Layer) -> bool:
    """8-bit values."""
    return layer.inputs[0].spec.dtype in ("int8", "uint8") and len(layer.inputs) == 1


def applies_avg_pool(layer: Layer) -> bool:
    """Plain averages with clipping; requantizing ones stay with generated C."""
    return applies_pool(layer) and layer.attributes.get("requant", "none") == "none" and "low" in layer.attributes


@dataclass(frozen=True)
class PoolKernel(KernelForm):
    name: str = "pool kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(3, 4), TileAxis(2), TileAxis(0, limit=1))

    def windows(self, arguments: Arguments, box: Box) -> tuple[Local, dict[str, Any]]:
        """The result, and the fields that describe windows over the image."""
        layer, a = self.layer, self.layer.attributes
        part = tile_part(layer, box)
        source, pads = part.inputs[0], part.attributes["pads"]
        x = arguments.load("x", layer.inputs[0], source)
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        fields = {
            "x": x, "y": Pointer(y), "height": source.size[1], "width": source.size[2], "channels": box.size[3],
            "out_height": box.size[1], "out_width": box.size[2], "kernel_height": a["kernel"][0],
            "kernel_width": a["kernel"][1], "stride_y": a["strides"][0], "stride_x": a["strides"][1],
            "dilation_y": a["dilation"][0], "dilation_x": a["dilation"][1], "pad_top": pads[0], "pad_left": pads[1],
            "x_type": TYPES[layer.inputs[0].spec.dtype], "low": a.get("low", 0), "high": a.get("high", 0),
        }  # fmt: skip
        return y, fields

    def recipe(self, box: Box) -> Recipe:
        arguments, layer = Arguments(), self.layer
        y, fields = self.windows(arguments, box)
        return arguments.finish(layer.operator, "pool", fields, (y, layer.outputs[0], box), self.costs)


def applies_transpose(layer: Layer) -> bool:
    """Up to four axes once neighbours that stay together are merged."""
    return (
        layer.inputs[0].spec.dtype in TYPES and len(merged(layer.inputs[0].spec.shape, layer.attributes["axes"])) <= 4
    )


def merged(shape: tuple[int, ...], axes: list[int]) -> list[tuple[int, int]]:
    """(size, stride in elements) of the result's axes, neighbours that stay neighbours as one."""
    strides = [1] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    found: list[tuple[int, int]] = []
    for axis in axes:
        if shape[axis] == 1:
            continue
        if found and found[-1][1] == strides[axis] * shape[axis]:
            found[-1] = (found[-1][0] * shape[axis], strides[axis])
        else:
            found.append((shape[axis], strides[axis]))
    return found or [(1, 1)]


def in_words(pairs: list[tuple[int, int]], itemsize: int) -> tuple[list[tuple[int, int]], int]:
    """The same sizes and strides in words of four bytes where bytes only move in such words; and the element size."""
    if itemsize != 1 or not pairs:
        return pairs, itemsize
    *outer, (size, stride) = pairs
    if stride != 1 or size % 4 or any(s % 4 for _, s in outer):
        return pairs, itemsize
    words = [(n, s // 4) for n, s in outer]
    return ([*words, (size // 4, 1)] if size > 4 or not words else words), 4


@dataclass(frozen=True)
class TransposeKernel(KernelForm):
    name: str = "transpose kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def recipe(self, box: Box) -> Recipe:
        layer = self.layer
        part = tile_part(layer, box)
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], part.inputs[0])
        y = Local("y", TensorSpec(box.size, layer.outputs[0].spec.dtype), SLACK)
        pairs, itemsize = in_words(
            merged(part.inputs[0].size, layer.attributes["axes"]), np.dtype(layer.inputs[0].spec.dtype).itemsize
        )
        pairs = [(1, 0)] * (4 - len(pairs)) + pairs
        fields = {"x": x, "y": Pointer(y), "element_bytes": itemsize}
        fields |= {f"size{i}": size for i, (size, _) in enumerate(pairs)}
        fields |= {f"stride{i}": stride * itemsize for i, (_, stride) in enumerate(pairs)}
        return arguments.finish("transpose", "transpose", fields, (y, layer.outputs[0], box), self.costs)


TABLE: dict[str, list[tuple[str, Callable[[Layer], bool], type[KernelForm]]]] = {
    "softmax": [
        ("i_softmax", applies_i_softmax, ISoftmaxKernel),
        ("softmax_ita", applies_ita, ItaSoftmaxKernel),
        ("softmax_tflite", applies_tflite, TfliteSoftmaxKernel),
    ],
    "rms_norm": [("rms_norm", applies_norm, RmsNormKernel)],
    "layer_norm": [("layer_norm", applies_norm, LayerNormKernel)],
    "max_pool": [("pool", applies_pool, PoolKernel)],
    "avg_pool": [("pool", applies_avg_pool, PoolKernel)],
    "transpose": [("transpose", applies_transpose, TransposeKernel)],
}
