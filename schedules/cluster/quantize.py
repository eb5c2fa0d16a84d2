"""Floats as bytes and bytes as floats, with one scale and one zero point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.cluster.base import TYPES, Arguments, KernelForm
from schedules.cluster.elementwise import output_local
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis

_BYTES = ("int8", "uint8")
# Scales that the kernel takes, so that their reciprocals are ordinary numbers too.
_LEAST_SCALE, _LARGEST_SCALE = 2.0**-80, 2.0**80


def known_numbers(tensors: list[Tensor]) -> list[np.ndarray] | None:
    """One number of each constant; None where there are several or none."""
    data = [t.data for t in tensors if t.data is not None and t.spec.elements == 1]
    return [d.reshape(-1) for d in data] if len(data) == len(tensors) else None


def quantize_fields(form: KernelForm, arguments: Arguments, box: Box) -> dict[str, Any]:
    """Arguments of the kernel that quantizes a part of the first operand, but for what concerns y."""
    layer = form.layer
    known = known_numbers(layer.inputs[1:4])
    assert known is not None
    scale, zero = np.float32(known[0][0]), int(known[2][0])
    reals = form.derived.constant(f"{layer.name}_reals", np.array([scale, np.float32(1) / scale], np.float32))
    return {
        "x": arguments.load("x", layer.inputs[0], box), "reals": arguments.load_whole("reals", reals),
        "y_type": TYPES[layer.outputs[0].spec.dtype], "zero_point": zero,
    }  # fmt: skip


def applies(layer: Layer) -> bool:
    """Floats to bytes, one constant scale and zero point."""
    known = known_numbers(layer.inputs[1:4])
    types = (layer.inputs[0].spec.dtype, layer.outputs[0].spec.dtype)
    if known is None or types[0] != "float32" or types[1] not in _BYTES:
        return False
    return bool(_LEAST_SCALE <= known[0][0] <= _LARGEST_SCALE)


def applies_dequantize(layer: Layer) -> bool:
    """Bytes, one constant scale and zero point."""
    return layer.inputs[0].spec.dtype in _BYTES and known_numbers(layer.inputs[1:]) is not None


@dataclass(frozen=True)
class QuantizeKernel(KernelForm):
    name: str = "quantize kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def recipe(self, box: Box) -> Recipe:
        arguments, y = Arguments(), output_local(self, box)
        whole = {"rows": 1, "columns": box.elements, "y_stride": 0, "y_step": 1}
        fields = quantize_fields(self, arguments, box) | {"y": Pointer(y), **whole}
        return arguments.finish("quantize", "quantize", fields, (y, self.layer.outputs[0], box), self.costs)


def applies_channels_last(layer: Layer) -> bool:
    """As `quantize`, a batch of one."""
    return layer.inputs[0].spec.shape[0] == 1 and applies(layer)


@dataclass(frozen=True)
class QuantizeChannelsLastKernel(KernelForm):
    """A row is a plane; its elements come to lie as far from each other as there are channels."""

    name: str = "quantize kernel, planes"

    def axes(self) -> tuple[TileAxis, ...]:
        return tuple(TileAxis(axis) for axis in range(1, len(self.layer.outputs[0].spec.shape) - 1))

    def recipe(self, box: Box) -> Recipe:
        arguments = Arguments()
        start, size = ((of[0], of[-1], *of[1:-1]) for of in (box.start, box.size))
        y, channels = output_local(self, box), box.size[-1]
        fields = quantize_fields(self, arguments, Box(start, size)) | {
            "y": Pointer(y), "rows": channels, "columns": box.elements // channels, "y_stride": 1, "y_step": channels,
        }  # fmt: skip
        return arguments.finish("quantize", "quantize", fields, (y, self.layer.outputs[0], box), self.costs)


@dataclass(frozen=True)
class DequantizeKernel(KernelForm):
    name: str = "dequantize kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def recipe(self, box: Box) -> Recipe:
        layer = self.layer
        known = known_numbers(layer.inputs[1:])
        assert known is not None
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        scale = self.derived.constant(f"{layer.name}_scale", known[0].astype(np.float32))
        y = output_local(self, box)
        fields = {
            "x": x, "y": Pointer(y), "scale": arguments.load_whole("scale", scale), "count": box.elements,
            "x_type": TYPES[layer.inputs[0].spec.dtype], "zero_point": int(known[1][0]),
        }  # fmt: skip
        return arguments.finish("dequantize", "dequantize", fields, (y, layer.outputs[0], box), self.costs)
