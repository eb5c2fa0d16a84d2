"""Element-wise operators but the sum: mul, requantize, hardswish, gelu, lookup."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedules.byte_tables import by_stored_byte, byte_values
from schedules.cluster.base import (
    SLACK,
    TYPES,
    Arguments,
    KernelForm,
    uniform_requant,
)
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.qnn.tiles import broadcast_box
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis

_TYPES = ("int8", "uint8", "int32")


def same_or_row(spec: TensorSpec, shape: tuple[int, ...]) -> bool:
    """Whether an operand has the result's shape, is one row of it, or is a single element per row of one column."""
    return spec.shape == shape or (spec.elements == shape[-1] and spec.shape[-1:] == shape[-1:])


def bytes_in_rows(layer: Layer, count: int) -> bool:
    shape = layer.outputs[0].spec.shape
    data = [t.spec for t in layer.inputs[:count]]
    # Products of bytes and TFLite's common scale stay far below 2^30; a 32-bit operand promises nothing.
    reach = None if any(s.dtype == "int32" for s in data) else 1 << 29
    return all(s.dtype in _TYPES and same_or_row(s, shape) for s in data) and uniform_requant(layer, reach)


@dataclass(frozen=True)
class ElementwiseKernel(KernelForm):
    """Rows of the last axis; an operand that is one row is repeated by a stride of 0."""

    name: str = "elementwise kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)[:-1] or tile_axes(self.layer)

    def geometry(self, box: Box) -> tuple[int, int]:
        """Rows and columns of a part: one row where nothing depends on the column."""
        columns = box.size[-1]
        rule = Requant.of(self.layer.attributes)
        vectors = self.layer.inputs[len(self.layer.inputs) - rule.operands :] if rule.operands else []
        flat = all(t.spec.elements == 1 for t in vectors)
        whole = all(t.spec.elements == self.layer.outputs[0].spec.elements for t in self.data())
        return (1, box.elements) if flat and whole else (box.elements // columns, columns)

    def data(self) -> list[Tensor]:
        raise NotImplementedError

    def operand(self, arguments: Arguments, name: str, tensor: Tensor, box: Box, columns: int) -> tuple[Pointer, int]:
        """Pointer and row stride of a data operand."""
        part = broadcast_box(tensor.spec.shape, box)
        itemsize = tensor.spec.bytes // max(1, tensor.spec.elements)
        repeated = part.elements < box.elements
        return arguments.load(name, tensor, part), 0 if repeated else columns * itemsize

    def channels(self, box: Box) -> slice:
        return slice(box.start[-1], box.start[-1] + box.size[-1])


def output_local(form: KernelForm, box: Box) -> Local:
    return Local("y", TensorSpec(box.size, form.layer.outputs[0].spec.dtype), SLACK)


def itemsize_of(tensor: Tensor) -> int:
    return tensor.spec.bytes // max(1, tensor.spec.elements)


def applies_mul(layer: Layer) -> bool:
    """Operands of the result's shape, or one row of it; requantized per tensor or per channel."""
    return bytes_in_rows(layer, 2)


@dataclass(frozen=True)
class MulKernel(ElementwiseKernel):
    name: str = "mul kernel"

    def data(self) -> list[Tensor]:
        return self.layer.inputs[:2]

    def recipe(self, box: Box) -> Recipe:
        layer = self.layer
        arguments = Arguments()
        rows, columns = self.geometry(box)
        a, a_stride = self.operand(arguments, "a", layer.inputs[0], box, columns)
        b, b_stride = self.operand(arguments, "b", layer.inputs[1], box, columns)
        y = output_local(self, box)
        requant = arguments.requant(layer, self.channels(box))
        fields = {
            "a": a, "b": b, "y": Pointer(y), "rows": rows, "columns": columns, "a_stride": a_stride,
            "b_stride": b_stride, "y_stride": columns * itemsize_of(layer.outputs[0]),
            "a_type": TYPES[layer.inputs[0].spec.dtype], "b_type": TYPES[layer.inputs[1].spec.dtype],
            "zero_point_a": layer.attributes["zero_point_a"], "zero_point_b": layer.attributes["zero_point_b"],
            **requant,
        }  # fmt: skip
        return arguments.finish("mul", "mul", fields, (y, layer.outputs[0], box), self.costs)


def applies_unary(layer: Layer) -> bool:
    """Requantized per tensor or per channel."""
    return bytes_in_rows(layer, 1)


def applies_requantize(layer: Layer) -> bool:
    """Per tensor, or along the last axis."""
    rank = len(layer.outputs[0].spec.shape)
    last = layer.attributes["axis"] % rank == rank - 1
    return bytes_in_rows(layer, 1) and (last or layer.inputs[1].spec.elements == 1)


def applies_planes(layer: Layer) -> bool:
    """Accumulators of one image with channels first, whose rule says how far they reach."""
    shape, a = layer.outputs[0].spec.shape, layer.attributes
    plain = layer.inputs[0].spec.dtype == "int32" and a["zero_point"] == 0 and len(shape) == 4 and shape[0] == 1
    return plain and a["axis"] == 1 and uniform_requant(layer, a.get("reach"))


@dataclass(frozen=True)
class PlanesKernel(KernelForm):
    """Requantization plane by plane."""

    name: str = "requantize kernel, channels first"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(2))

    def recipe(self, box: Box) -> Recipe:
        layer, arguments = self.layer, Arguments()
        x, y = arguments.load("x", layer.inputs[0], box), output_local(self, box)
        columns = box.size[2] * box.size[3]
        requant = arguments.requant(layer, slice(box.start[1], box.start[1] + box.size[1]))
        fields = {
            "x": x, "y": Pointer(y), "rows": box.size[1], "columns": columns, "x_stride": 4 * columns,
            "y_stride": columns * itemsize_of(layer.outputs[0]), "x_type": TYPES["int32"], "lines": 1,
            "x_line_stride": 0, "per_row": 1, "zero_point": 0, **requant,
        }  # fmt: skip
        return arguments.finish("requantize", "requantize", fields, (y, layer.outputs[0], box), self.costs)


def _unary(function: str, extra: Callable[[Layer], dict[str, int]]) -> type[KernelForm]:
    """Form of a function of one tensor with the common argument layout."""

    @dataclass(frozen=True)
    class UnaryKernel(ElementwiseKernel):
        name: str = f"{function} kernel"

        def data(self) -> list[Tensor]:
            return self.layer.inputs[:1]

        def recipe(self, box: Box) -> Recipe:
            layer = self.layer
            arguments = Arguments()
            rows, columns = self.geometry(box)
            x, x_stride = self.operand(arguments, "x", layer.inputs[0], box, columns)
            y = output_local(self, box)
            requant = arguments.requant(layer, self.channels(box))
            fields = {
                "x": x, "y": Pointer(y), "rows": rows, "columns": columns, "x_stride": x_stride,
                "y_stride": columns * itemsize_of(layer.outputs[0]), "x_type": TYPES[layer.inputs[0].spec.dtype],
                **extra(layer), **requant,
            }  # fmt: skip
            return arguments.finish(function, function, fields, (y, layer.outputs[0], box), self.costs)

    return UnaryKernel


RequantizeKernel = _unary(
    "requantize",
    lambda layer: {"lines": 1, "x_line_stride": 0, "per_row": 0, "zero_point": layer.attributes["zero_point"]},
)
HardswishKernel = _unary("hardswish", lambda layer: {k: layer.attributes[k] for k in ("three", "six", "one_over_six")})
GeluKernel = _unary("gelu", lambda layer: {k: layer.attributes[k] for k in ("b", "one")})


def _function_of_byte(layer: Layer) -> bool:
    """An 8-bit result that depends on one 8-bit value only: a table of 256 entries."""
    rule = Requant.of(layer.attributes)
    single = layer.inputs[0].spec.dtype in ("int8", "uint8") and layer.outputs[0].spec.dtype in ("int8", "uint8")
    if layer.operator == "integer_div" and layer.attributes["operands"] != 1:
        return False
    return single and all(t.spec.elements == 1 and t.data is not None for t in layer.inputs[1:]) and rule.kind != "none"


def _is_byte_table(layer: Layer) -> bool:
    """A constant table of 256 bytes."""
    table = layer.inputs[1]
    return table.data is not None and table.spec.elements == 256 and table.spec.dtype in ("int8", "uint8")


@dataclass(frozen=True)
class LookupKernel(KernelForm):
    """Any function of one byte, computed at compile time for all 256 values."""

    name: str = "lookup kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def table(self) -> np.ndarray:
        from tvm_pulp.qnn.operator import OPERATORS

        layer = self.layer
        if layer.operator == "lookup":
            assert layer.inputs[1].data is not None
            return by_stored_byte(layer.inputs[1].data, layer.inputs[0].spec.dtype)
        values = byte_values(layer.inputs[0].spec.dtype).astype(layer.inputs[0].spec.dtype)
        constants = [t.data for t in layer.inputs[1:] if t.data is not None]
        attributes = {**layer.attributes, **({"axis": 0} if "axis" in layer.attributes else {})}
        return OPERATORS[layer.operator].reference(attributes, [values, *constants]).view(np.uint8)

    def recipe(self, box: Box) -> Recipe:
        layer = self.layer
        arguments = Arguments()
        x = arguments.load("x", layer.inputs[0], box)
        table = arguments.load_whole("table", self.derived.constant(f"{layer.name}_table", self.table()))
        y = output_local(self, box)
        fields = {"x": x, "y": Pointer(y), "table": table, "count": math.prod(box.size)}
        return arguments.finish("lookup", "lookup", fields, (y, layer.outputs[0], box), self.costs)


TABLE: dict[str, list[tuple[str, Callable[[Layer], bool], type[KernelForm]]]] = {
    "mul": [("mul", applies_mul, MulKernel)],
    "requantize": [
        ("lookup", _function_of_byte, LookupKernel),
        ("requantize", applies_requantize, RequantizeKernel),
        ("requantize", applies_planes, PlanesKernel),
    ],
    "hardswish": [("lookup", _function_of_byte, LookupKernel), ("hardswish", applies_unary, HardswishKernel)],
    "gelu": [("lookup", _function_of_byte, LookupKernel), ("gelu", applies_unary, GeluKernel)],
    "integer_div": [("lookup", _function_of_byte, LookupKernel)],
    "lookup": [("lookup", _is_byte_table, LookupKernel)],
}
