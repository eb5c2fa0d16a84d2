"""Floats as bytes and bytes as floats, with one scale and one zero point; and a cache with new rows behind."""

import math

import numpy as np

from schedules.byte_tables import by_stored_byte
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, TileAxis, kernel_call, schedule
from schedules.kernel_cycles import Work, share, work
from tvm_pulp.qnn.quantize import AppendQuantizedAttributes
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.uma.recipe import Load, Local, Pointer, Recipe, Store

# Scales that the kernel takes, so that their reciprocals are ordinary numbers too.
_LEAST_SCALE, _LARGEST_SCALE = 2.0**-80, 2.0**80


def known_numbers(layer: Layer) -> list[np.ndarray] | None:
    """One number of each constant that belongs to a scale; None where there are several or none."""
    tensors = layer.inputs[1:4]
    data = [t.data for t in tensors if t.data is not None and t.spec.elements == 1]
    return [d.reshape(-1) for d in data] if len(data) == len(tensors) else None


def applies(layer: Layer) -> bool:
    """Floats to bytes, one constant scale and zero point."""
    known = known_numbers(layer)
    types = (layer.inputs[0].spec.dtype, layer.outputs[0].spec.dtype)
    if known is None or types[0] != "float32" or types[1] not in BYTES:
        return False
    return bool(_LEAST_SCALE <= known[0][0] <= _LARGEST_SCALE)


@schedule("quantize", applies)
class QuantizeKernel(KernelForm):
    kernel = "quantize"

    def fields(self, call: Arguments, box: Box) -> Fields:
        return self.quantized(call, box) | {"rows": 1, "columns": box.elements, "y_stride": 0, "y_step": 1}

    def quantized(self, call: Arguments, box: Box) -> Fields:
        """Arguments of the kernel that quantizes a part of the first operand, but for what concerns y."""
        scale, _, zero = (t.values.reshape(-1)[0] for t in self.layer.inputs[1:4])
        x, reals = call.load("x", self.layer.inputs[0], box), np.array([scale, np.float32(1) / scale], np.float32)
        return {"x": x, "reals": call.load_constant("reals", reals), "zero_point": int(zero)}


def applies_channels_last(layer: Layer) -> bool:
    """As `quantize`, a batch of one."""
    return layer.inputs[0].spec.shape[0] == 1 and applies(layer)


@schedule("quantize_channels_last", applies_channels_last)
class QuantizeChannelsLastKernel(QuantizeKernel):
    """A row is a plane; its elements come to lie as far from each other as there are channels."""

    label = "quantize kernel, planes"

    def axes(self) -> tuple[TileAxis, ...]:
        return tuple(TileAxis(axis) for axis in range(1, len(self.layer.outputs[0].spec.shape) - 1))

    def fields(self, call: Arguments, box: Box) -> Fields:
        planes, channels = self.layer.inputs[0].spec.shape[1], box.size[-1]
        source = Box((box.start[0], 0, *box.start[1:-1]), (box.size[0], planes, *box.size[1:-1]))
        steps = {"rows": planes, "columns": box.elements // channels, "y_stride": 1, "y_step": channels}
        return self.quantized(call, source) | steps


def applies_dequantize(layer: Layer) -> bool:
    """Bytes, one constant scale and zero point."""
    return layer.inputs[0].spec.dtype in BYTES and known_numbers(layer) is not None


@schedule("dequantize", applies_dequantize)
class DequantizeKernel(KernelForm):
    def fields(self, call: Arguments, box: Box) -> Fields:
        x, scale, zero = self.layer.inputs
        return {
            "x": call.load("x", x, box),
            "scale": call.load_constant("scale", scale.values.reshape(-1).astype(np.float32)),
            "count": box.elements, "zero_point": int(zero.values.reshape(-1)[0]),
        }  # fmt: skip


def applies_append(layer: Layer) -> bool:
    """Something of both kinds; a table is a constant."""
    sizes = (layer.inputs[0].spec.elements, math.prod(AppendQuantizedAttributes.of(layer).appended))
    return applies(layer) and min(sizes) > 0 and all(t.data is not None for t in layer.inputs[5:])


@schedule("append_quantized", applies_append)
class AppendQuantizedKernel(QuantizeKernel):
    """Two kernels write side by side: one quantizes, the other copies the new rows."""

    label = "quantize kernel and row copies"

    def axes(self) -> tuple[TileAxis, ...]:
        """It runs whole: what is appended is a part of another tensor that no box describes."""
        return ()

    def recipe(self, box: Box) -> Recipe:
        layer, a = self.layer, AppendQuantizedAttributes.of(self.layer)
        x, more = layer.inputs[0], layer.inputs[4]
        rows, inner = math.prod(box.size[: a.axis]), math.prod(box.size[a.axis + 1 :])
        columns, row_bytes, added = (shape[a.axis] * inner for shape in (x.spec.shape, box.size, a.appended))
        first, second = Arguments(self, box), Arguments(self, box)
        y, source = first.y, second.load_whole("more", more)
        fields = self.quantized(first, Box.whole(x.spec.shape)) | {
            "y": Pointer(y), "rows": rows, "columns": columns, "y_stride": row_bytes, "y_step": 1,
        }  # fmt: skip
        quantize = kernel_call("quantize", fields, self.costs, first.reads, (y,))
        looked_up: Pointer | int = 0
        if a.has_table:
            table = self.constant("table", by_stored_byte(layer.inputs[5].values, more.spec.dtype))
            held = Local("table", table.spec)
            looked_up = Pointer(held)
            second.reads.append(held)
            second.steps.append(Load(table, Box.whole(table.spec.shape), held))
        fields = {
            "x": Pointer(source.operand, a.first), "y": Pointer(y, columns), "rows": rows, "row_bytes": added,
            "table": looked_up, "table_stride": 0, "x_stride": added,
            "y_stride": row_bytes,
        }  # fmt: skip
        copy = kernel_call("copy_rows", fields, self.costs, second.reads, (y,))
        return Recipe((*first.steps, *second.steps, quantize, copy, Store(y, layer.outputs[0], box)))


@work("quantize")
def quantize_work(f: Fields, cores: int) -> Work:
    if f["rows"] == 3 and f["y_stride"] == 1 and f["y_step"] in (3, 4):
        pixels = share(f["columns"], cores)
        return {"call": 1, "pixel": pixels, "rest": pixels % 4}
    elements = share(f["rows"] * f["columns"], cores)
    pieces = 1 if f["rows"] == 1 else -(-elements // f["columns"]) + 1
    return {"call": 1, "piece": pieces, "together" if f["y_step"] == 1 else "apart": 4 * -(-elements // 4)}
