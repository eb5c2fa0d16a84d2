"""Element-wise operators but the sum: mul, requantize, hardswish, gelu, lookup, qdq_mul."""

import math
from typing import ClassVar

import numpy as np

from schedules.byte_tables import byte_values
from schedules.cluster.arithmetic import uniform_requant
from schedules.cluster.base import (
    Arguments,
    Box,
    Fields,
    KernelForm,
    Layer,
    Schedule,
    Tensor,
    TileAxis,
    register,
    schedule,
)
from schedules.kernel_cycles import Work, is_four, kind_of, share, share_groups, work
from schedules.kernel_numbers import INT32, KINDS, TYPES
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes
from tvm_pulp.qnn.elementwise import RequantizeAttributes
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.qnn.tiles import broadcast_box
from tvm_pulp.quick_records import changed
from tvm_pulp.uma.recipe import Pointer


def same_or_row(spec: TensorSpec, shape: tuple[int, ...]) -> bool:
    """Tell if an operand has the result's shape, is one row of it, or is a single element per row of one column."""
    return spec.shape == shape or (spec.elements == shape[-1] and spec.shape[-1:] == shape[-1:])


def bytes_in_rows(layer: Layer, count: int) -> bool:
    shape = layer.outputs[0].spec.shape
    data = [t.spec for t in layer.inputs[:count]]
    # Products of bytes and TFLite's common scale stay far below 2^30; a 32-bit operand promises nothing.
    reach = None if any(s.dtype == "int32" for s in data) else 1 << 29
    return all(s.dtype in TYPES and same_or_row(s, shape) for s in data) and uniform_requant(layer, reach)


class ElementwiseKernel(KernelForm):
    """Rows of the last axis; an operand that is one row is repeated by a stride of 0."""

    # Fields of the operands that are data.
    names: ClassVar[str] = "x"

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)[:-1] or tile_axes(self.layer)

    def data(self) -> list[Tensor]:
        return self.layer.inputs[: len(self.names)]

    def geometry(self, box: Box) -> tuple[int, int]:
        """Rows and columns of a part: one row where nothing depends on the column."""
        columns = box.size[-1]
        rule = Requant.of(self.layer.attributes)
        flat = all(t.spec.elements == 1 for t in rule.tensors(self.layer.inputs))
        whole = all(t.spec.elements == self.layer.outputs[0].spec.elements for t in self.data())
        return (1, box.elements) if flat and whole else (box.elements // columns, columns)

    def operand(self, call: Arguments, name: str, tensor: Tensor, box: Box, columns: int) -> tuple[Pointer, int]:
        """Pointer and row stride of a data operand."""
        part = broadcast_box(tensor.spec.shape, box)
        repeated = part.elements < box.elements
        return call.load(name, tensor, part), 0 if repeated else columns * tensor.spec.itemsize

    def rows(self, call: Arguments, box: Box) -> Fields:
        """Fields of the data operands and of the result: pointers, strides, rows and columns."""
        rows, columns = self.geometry(box)
        fields: Fields = {"rows": rows, "columns": columns, "y_stride": columns * call.output.spec.itemsize}
        for name, tensor in zip(self.names, self.data(), strict=True):
            fields[name], fields[f"{name}_stride"] = self.operand(call, name, tensor, box, columns)
        return fields

    def fields(self, call: Arguments, box: Box) -> Fields:
        return self.rows(call, box) | call.requant(box.span(-1))


def applies_mul(layer: Layer) -> bool:
    """Operands of the result's shape, or one row of it; requantized per tensor or per channel."""
    return bytes_in_rows(layer, 2)


class MulKernel(ElementwiseKernel):
    names = "ab"


def applies_unary(layer: Layer) -> bool:
    """Requantized per tensor or per channel."""
    return bytes_in_rows(layer, 1)


def applies_requantize(layer: Layer) -> bool:
    """Per tensor, or along the last axis."""
    rank = len(layer.outputs[0].spec.shape)
    last = RequantizeAttributes.of(layer).axis % rank == rank - 1
    return bytes_in_rows(layer, 1) and (last or layer.inputs[1].spec.elements == 1)


class RequantizeKernel(ElementwiseKernel):
    def fields(self, call: Arguments, box: Box) -> Fields:
        return super().fields(call, box) | {"lines": 1, "x_line_stride": 0, "per_row": 0}


def applies_planes(layer: Layer) -> bool:
    """Bytes of one image with channels first, or accumulators whose rule says how far they reach."""
    x, shape, a = layer.inputs[0].spec, layer.outputs[0].spec.shape, RequantizeAttributes.of(layer)
    plain = x.dtype in BYTES or (x.dtype == "int32" and a.zero_point == 0)
    return plain and len(shape) > 2 and shape[0] == a.axis == 1 and uniform_requant(layer, a.reach)


class PlanesKernel(KernelForm):
    """Requantization plane by plane."""

    label = "requantize kernel, channels first"
    cut = (TileAxis(1), TileAxis(2))

    def fields(self, call: Arguments, box: Box) -> Fields:
        columns, x = math.prod(box.size[2:]), self.layer.inputs[0]
        return {
            "x": call.load("x", x, box), "rows": box.size[1], "columns": columns,
            "x_stride": x.spec.itemsize * columns, "y_stride": columns * call.output.spec.itemsize,
            "lines": 1, "x_line_stride": 0, "per_row": 1, **call.requant(box.span(1)),
        }  # fmt: skip


def function_of_byte(layer: Layer) -> bool:
    """An 8-bit result that depends on one 8-bit value only: a table of 256 entries."""
    rule = Requant.of(layer.attributes)
    single = layer.inputs[0].spec.dtype in BYTES and layer.outputs[0].spec.dtype in BYTES
    if getattr(layer.attributes, "operands", 1) != 1:
        return False
    return single and all(t.spec.elements == 1 and t.data is not None for t in layer.inputs[1:]) and rule.kind != "none"


def is_byte_table(layer: Layer) -> bool:
    """A constant table of 256 bytes."""
    table = layer.inputs[1]
    return table.data is not None and table.spec.elements == 256 and table.spec.dtype in BYTES


class LookupKernel(KernelForm):
    """Any function of one byte, computed at compile time for all 256 values."""

    kernel = "lookup"

    def table(self) -> np.ndarray:
        values = byte_values(self.layer.inputs[0].spec.dtype).astype(self.layer.inputs[0].spec.dtype)
        constants = [t.data for t in self.layer.inputs[1:] if t.data is not None]
        attributes = self.layer.attributes
        if isinstance(attributes, RequantizeAttributes):
            attributes = changed(attributes, axis=0)
        return OPERATORS[self.layer.operator].reference(attributes, [values, *constants]).view(np.uint8)

    def fields(self, call: Arguments, box: Box) -> Fields:
        x = call.load("x", self.layer.inputs[0], box)
        return {"x": x, "table": call.load_constant("table", self.table()), "count": box.elements}


def elements_work(f: Fields, name: str, cores: int, *, dense: bool | None = None) -> Work:
    """Four elements at a time, in as many pieces as a core's share has rows; `dense`: all rows of bytes are one."""
    elements = share(f["rows"] * f["columns"], cores)
    if dense is None:
        dense = all(f[n] == f["columns"] for n in ("a_stride", "b_stride", "x_stride", "y_stride") if n in f)
    return {"call": 1, "piece": 1 if dense else -(-elements // f["columns"]) + 1, name: 4 * -(-elements // 4)}


def plain_work(f: Fields, name: str, cores: int) -> Work:
    """Element by element, every case decided at run time."""
    return {"plain_call": 1, f"plain_{name}": share(f["rows"] * f["columns"], cores)}


@work("mul", "hardswish", "gelu")
def four_work(f: Fields, cores: int) -> Work:
    """Four elements at a time, where they are bytes without zero points that are requantized so."""
    moved = any(f.get(n) for n in ("zero_point_a", "zero_point_b"))
    if not is_four(f) or moved or INT32 in (f.get(n) for n in ("a_type", "b_type", "x_type")):
        return plain_work(f, kind_of(f), cores)
    return elements_work(f, "element", cores)


@work("lookup", "lookup_pairs", "dequantize", "gate")
def counted_work(f: Fields, cores: int) -> Work:
    return {"call": 1, "element": 4 * share(-(-f["count"] // 4), cores)}


@work("requantize")
def requantize_work(f: Fields, cores: int) -> Work:
    kind, wide = kind_of(f), f["x_type"] == INT32
    block = wide and f["zero_point"] == 0 and not f["per_row"]
    channels = block and f["requant.per_channel"] and not f["requant.wide_result"]
    clips = f["requant.low"] == 0 or f["requant.low"] == ~f["requant.high"]
    name = {"shift": "shift", "shift_range": "shift", "away": "away", "half_up": "high", "scaled": "high"}.get(kind)
    fours = f["columns"] % 4 == 0
    if channels and ((name == "high" and fours and clips) or name in ("shift", "away")):
        # Groups of four channels, or rows where there are few groups. A last one of fewer takes as long.
        groups, rows, lines = -(-f["columns"] // 4), f["lines"] * f["rows"], f["lines"]
        if rows == 1 and clips and fours and f["requant.kind"] == KINDS["shift"]:
            return {"row_call": 1, "row_group": share(groups, cores)}
        # Lines of a picture are shared as a whole.
        units, each = (lines, f["rows"]) if lines > 1 else (rows, 1)
        groups, units = share_groups(groups, units, cores, begun=1 if lines > 1 else 4)
        rows = units * each
        further = {f"{name}_line": groups * units} if lines > 1 else {}
        if not clips:
            further |= {"range_group": groups, "range_element": 4 * groups * rows}
        # Groups with halves take what TFLite's take: as many instructions decide about both.
        even = f.get("even_share", 1.0) if f["requant.kind"] == KINDS["shift_even"] else 0.0
        done = {"call": 1.0, **further}
        for loop, part in ((name, 1 - even), ("away", even)):
            done |= {f"{loop}_group": part * groups, f"{loop}_element": part * 4 * groups * rows} if part else {}
        return done
    if f["requant.per_channel"] and kind in ("pulp", "pulp_range") and not f["requant.wide_result"]:
        if f["per_row"] and not wide:
            return elements_work(f, "of_plane", cores, dense=False)
        if not f["per_row"] and f["columns"] >= 4:
            # Rows are shared, or groups of four channels where there are few rows.
            groups, rows = -(-f["columns"] // 4), f["rows"]
            groups, rows = (groups, share(rows, cores)) if rows >= 4 * cores else (share(groups, cores), rows)
            return {"call": 1, "channels": groups, "of_channels": 4 * groups * rows}
    if kind.startswith(("shift", "away")) or (not is_four(f) and not block):
        return plain_work(f, kind, cores)
    if wide and f["requant.per_channel"] and f["columns"] >= cores:
        # Every core takes whole columns.
        mine = share(f["columns"], cores)
        return {"call": 1, "column": mine, f"column_{kind}": mine * f["rows"]}
    itemsize = 4 if wide else 1
    result = 4 if kind == "none" or f["requant.wide_result"] else 1
    columns = f["columns"]
    dense = f["x_stride"] == columns * itemsize and f["y_stride"] == columns * result
    dense = dense and not f["requant.per_channel"]
    each = "_channels" if f["requant.per_channel"] else ""
    return elements_work(f, f"{'int32' if wide else 'byte'}_{kind}{each}", cores, dense=dense)


# By a number that is known, products are functions of a byte too.
_TABLED = Schedule(function_of_byte, LookupKernel)
register("mul", _TABLED, Schedule(applies_mul, MulKernel))
register("requantize", _TABLED, Schedule(applies_requantize, RequantizeKernel), Schedule(applies_planes, PlanesKernel))
register("hardswish", _TABLED, Schedule(applies_unary, ElementwiseKernel))
register("gelu", _TABLED, Schedule(applies_unary, ElementwiseKernel))
register("integer_div", _TABLED)
register("lookup", Schedule(is_byte_table, LookupKernel))


def applies_qdq_mul(layer: Layer) -> bool:
    """Operands of the result's shape, or one row of it."""
    shape, data = layer.outputs[0].spec.shape, [t.spec for t in layer.inputs[:2]]
    return all(same_or_row(spec, shape) for spec in data) and any(spec.shape == shape for spec in data)


@schedule("qdq_mul", applies_qdq_mul)
class QdqMulKernel(ElementwiseKernel):
    names = "ab"

    def fields(self, call: Arguments, box: Box) -> Fields:
        layer, attributes = self.layer, self.layer.attributes
        pairs = list(zip("ab", layer.inputs[:2], strict=True))
        if pairs[0][1].spec.shape != layer.outputs[0].spec.shape:
            pairs.reverse()
        rows, columns = self.geometry(box)
        fields: Fields = {"rows": rows, "columns": columns}
        for side, (name, tensor) in zip("ab", pairs, strict=True):
            # The first operand has the shape of the result: only the second has a stride.
            fields[side], fields["b_stride"] = self.operand(call, name, tensor, box, columns)
            fields[f"zero_point_{side}"] = attributes[f"zero_point_{name}"]
        return fields | {"scale": call.load_reals("scale", "scale")}


@work("qdq_mul")
def qdq_mul_work(f: Fields, cores: int) -> Work:
    return elements_work(f, "element", cores, dense=f["rows"] == 1)
