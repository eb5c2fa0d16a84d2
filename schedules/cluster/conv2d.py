"""Convolutions by im2col in the kernel's scratch, and depthwise convolutions."""

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
from schedules.depthwise_conv2d import pack_depthwise_weights, plane_stride, scratch_bytes
from schedules.packed_weights import offset_weights, pack_weights
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Local, Pointer, Recipe
from tvm_pulp.uma.strategy import TileAxis
from tvm_pulp.uma.windows import InputSpan, input_span

_MOST_WINDOWS = 16


def applies(layer: Layer) -> bool:
    """One group, 8-bit input, constant weights of eight bits."""
    plain = layer.inputs[0].spec.dtype in ("int8", "uint8") and are_bytes(layer.inputs[1])
    return plain and layer.attributes["groups"] == 1 and uniform_requant(layer, accumulator_reach(layer))


def applies_depthwise(layer: Layer) -> bool:
    """As many groups as channels, multiplier 1."""
    weight = layer.inputs[1]
    plain = layer.inputs[0].spec.dtype in ("int8", "uint8") and weight.data is not None and weight.spec.dtype == "int8"
    channels = layer.inputs[0].spec.shape[3]
    groups = layer.attributes["groups"] == channels == weight.spec.shape[0]
    return plain and groups and channels > 1 and uniform_requant(layer, accumulator_reach(layer))


def spans(layer: Layer, box: Box) -> tuple[InputSpan, InputSpan]:
    """Input rows and columns of an output part."""
    a, (_, height, width, _) = layer.attributes, layer.inputs[0].spec.shape
    _, kh, kw, _ = layer.inputs[1].spec.shape
    rows = input_span(box.start[1], box.size[1], height, kh, a["strides"][0], a["dilation"][0], a["pads"][0])
    columns = input_span(box.start[2], box.size[2], width, kw, a["strides"][1], a["dilation"][1], a["pads"][1])
    return rows, columns


@dataclass(frozen=True)
class WindowKernel(KernelForm):
    """What both kinds of convolution share."""

    def window(self, box: Box, rows: InputSpan, columns: InputSpan) -> dict[str, int]:
        """Fields that describe sizes, steps and padding."""
        a, (_, kh, kw, _) = self.layer.attributes, self.layer.inputs[1].spec.shape
        return {
            "height": rows.size, "width": columns.size, "out_height": box.size[1], "out_width": box.size[2],
            "kernel_height": kh, "kernel_width": kw, "stride_y": a["strides"][0], "stride_x": a["strides"][1],
            "dilation_y": a["dilation"][0], "dilation_x": a["dilation"][1], "pad_top": rows.before,
            "pad_left": columns.before, "pad_value": a["zero_point"], "x_type": TYPES[self.layer.inputs[0].spec.dtype],
        }  # fmt: skip


@dataclass(frozen=True)
class Conv2dKernel(WindowKernel):
    name: str = "conv2d kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(3, 4), TileAxis(2), TileAxis(0, limit=1))

    def windows_at_once(self, box: Box, depth: int, moved: int) -> int:
        """Windows that a core lays out before it multiplies: more save calls and take L1 from the tile."""
        pixels = -(-(box.size[1] * box.size[2]) // self.cores)
        room = moved // 2 // (self.cores * padded(depth))
        return max(4, min(_MOST_WINDOWS, room, padded(pixels)) // 4 * 4)

    def recipe(self, box: Box) -> Recipe:
        layer, out, a = self.layer, self.layer.outputs[0], self.layer.attributes
        weights = layer.inputs[1].data
        assert weights is not None
        _, kh, kw, channels = weights.shape
        rows, columns = spans(layer, box)
        arguments = Arguments()
        source = Box((box.start[0], rows.start, columns.start, 0), (1, rows.size, columns.size, channels))
        x = arguments.load("x", layer.inputs[0], source)
        first, count = box.start[3], box.size[3]
        matrix = weights.reshape(weights.shape[0], -1)
        stored = offset_weights(matrix)
        assert stored is not None
        packed = self.derived.constant(
            f"{layer.name}_packed_{first}_{count}", pack_weights(stored[0][first : first + count])
        )
        weight = arguments.load_whole("weight", packed)
        bias = self.derived.constant(f"{layer.name}_folded_bias", folded_bias(layer, matrix, a["zero_point"]))
        bias_at = arguments.load("bias", bias, Box((first,), (count,)))
        y = Local("y", TensorSpec(box.size, out.spec.dtype), SLACK)
        depth = kh * kw * channels
        moved = source.elements + box.elements
        scratch, stride = self.scratch(self.windows_at_once(box, depth, moved) * padded(depth) + 4)
        requant = arguments.requant(layer, slice(first, first + count), promised=self.promised)
        itemsize = out.spec.bytes // out.spec.elements
        fields = {
            "x": x, "weight": weight, "bias": bias_at, "y": Pointer(y), "scratch": Pointer(scratch),
            "scratch_stride": stride, "channels": channels, "out_channels": count,
            "y_pixel_stride": count * itemsize, "depth_stride": padded(depth), "weight_offset": stored[1],
            **self.window(box, rows, columns), **requant,
        }  # fmt: skip
        return arguments.finish("conv2d", "conv2d", fields, (y, out, box), self.costs, [scratch])


@dataclass(frozen=True)
class DepthwiseKernel(WindowKernel):
    name: str = "depthwise kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(3, 4), TileAxis(2), TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        layer, out, a = self.layer, self.layer.outputs[0], self.layer.attributes
        weights = layer.inputs[1].data
        assert weights is not None
        _, kh, kw, _ = weights.shape
        rows, columns = spans(layer, box)
        first, count = box.start[3], box.size[3]
        arguments = Arguments()
        source = Box((box.start[0], rows.start, columns.start, first), (1, rows.size, columns.size, count))
        x = arguments.load("x", layer.inputs[0], source)
        filters = self.derived.constant(f"{layer.name}_padded_weight", pack_depthwise_weights(weights[..., 0]))
        weight = arguments.load("weight", filters, Box((first, 0, 0), (count, kh, padded(kw))))
        bias = self.derived.constant(f"{layer.name}_folded_bias", folded_bias(layer, weights, a["zero_point"]))
        bias_at = arguments.load("bias", bias, Box((first,), (count,)))
        y = Local("y", TensorSpec(box.size, out.spec.dtype), SLACK)
        plane = plane_stride(box.size[2], kw, a["strides"][1], columns.before)
        # Turning several rows at once saves reading the halo again; the whole tile is the most that can help.
        turned = max(kh, min(rows.before + rows.size + rows.after, kh + 6 * a["strides"][0]))
        scratch, stride = self.scratch(scratch_bytes(box.size[2], plane, turned))
        requant = arguments.requant(layer, slice(first, first + count), promised=self.promised)
        itemsize = out.spec.bytes // out.spec.elements
        fields = {
            "x": x, "weight": weight, "bias": bias_at, "y": Pointer(y), "scratch": Pointer(scratch),
            "scratch_stride": stride, "plane_stride": plane, "plane_rows": turned, "channels": count,
            "x_pixel_stride": count, "y_pixel_stride": count * itemsize, **self.window(box, rows, columns), **requant,
        }  # fmt: skip
        return arguments.finish("depthwise_conv2d", "depthwise_conv2d", fields, (y, out, box), self.costs, [scratch])
