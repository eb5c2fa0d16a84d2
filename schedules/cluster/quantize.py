"""Floats as bytes and bytes as floats, with one scale and one zero point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedules.cluster.base import TYPES, Arguments, KernelForm
from schedules.cluster.elementwise import output_local
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.tiling.forms.tile_rules import RULES
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


def applies(layer: Layer) -> bool:
    known = known_numbers(layer.inputs[1:])
    types = (layer.inputs[0].spec.dtype, layer.outputs[0].spec.dtype)
    if known is None or types[0] != "float32" or types[1] not in _BYTES:
        return False
    return bool(_LEAST_SCALE <= known[0][0] <= _LARGEST_SCALE)


def applies_dequantize(layer: Layer) -> bool:
    return layer.inputs[0].spec.dtype in _BYTES and known_numbers(layer.inputs[1:]) is not None


@dataclass(frozen=True)
class QuantizeKernel(KernelForm):
    name: str = "quantize kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return RULES["quantize"].axes(self.layer)

    def recipe(self, box: Box) -> Recipe:
        layer = self.layer
        known = known_numbers(layer.inputs[1:])
        assert known is not None
        scale, reciprocal, zero = known
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        reals = self.derived.constant(f"{layer.name}_reals", np.array([scale[0], reciprocal[0]], np.float32))
        y = output_local(self, box)
        fields = {
            "x": x, "y": Pointer(y), "reals": arguments.load_whole("reals", reals), "rows": 1, "columns": box.elements,
            "y_stride": 0, "y_step": 1, "y_type": TYPES[layer.outputs[0].spec.dtype], "zero_point": int(zero[0]),
        }  # fmt: skip
        return arguments.finish("quantize", "quantize", fields, (y, layer.outputs[0], box), self.costs)


@dataclass(frozen=True)
class DequantizeKernel(KernelForm):
    name: str = "dequantize kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return RULES["dequantize"].axes(self.layer)

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
