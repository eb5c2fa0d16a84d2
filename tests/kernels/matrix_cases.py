"""Calls of the matrix kernels with the result that the dialect defines."""

from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from schedules.cluster.arithmetic import can_round_short
from schedules.packed_weights import (
    pack_depthwise_weights,
    pack_nibbles,
    pack_weights,
    padded,
    plane_stride,
    scratch_bytes,
    weights_of_pixels,
)
from tests.kernels.call import Call, Out, Scratch
from tests.kernels.random_requant import Rule, random_rule
from tvm_pulp.qnn.conv2d import Conv2d, output_size
from tvm_pulp.qnn.dense import Dense
from tvm_pulp.qnn.matmul import Matmul
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.qnn.window_attributes import WindowAttributes

TYPE_CODES = {"int8": 0, "uint8": 1, "int32": 2, "int16": 3, "uint16": 4}


@dataclass(frozen=True)
class Case:
    """A call and what it must give."""

    call: Call
    expected: np.ndarray
    work: int
    """MAC or elements."""


def random_bytes(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def make_rule(rng: np.random.Generator, kind: str, depth: int, columns: int, per_channel: bool) -> Rule:
    bound = min(2**29, 255 * 128 * depth + 2000)
    spread = (per_channel and columns > 1) or kind == "high_word"
    return random_rule(rng, kind, bound, columns if spread else 1)


def with_promise(rule: Rule, depth: int, makes_it: bool | None = None) -> Rule:
    """Of the rules that keep the promise three of four make it, where the caller does not say."""
    if makes_it is None:
        makes_it = bool(rule.operands) and int(rule.operands[0][0]) % 4 != 0
    return replace(rule, promised=makes_it and can_round_short(rule.requant, rule.operands, 512 * 128 * depth + 2000))


def dense_case(
    rng: np.random.Generator,
    rows: int,
    columns: int,
    depth: int,
    kind: str = "pulp",
    *,
    dtype: str = "int8",
    per_channel: bool = True,
    misalign: int = 0,
    rule: Rule | None = None,
    without_bias: bool = False,
    promised: bool | None = None,
    offset: int = 0,
) -> Case:
    x, stored = random_bytes(rng, (rows, depth), dtype), random_bytes(rng, (columns, depth), "int8")
    weight, size = stored.astype(np.int16) + np.int16(offset), np.dtype(dtype).itemsize
    zero_point = int(rng.integers(-20, 20)) * (not without_bias)
    bias = rng.integers(-1000, 1000, columns).astype(np.int32) * (not without_bias)
    rule = rule or make_rule(rng, kind, depth * (256 if size == 2 else 1), columns, per_channel)
    rule = with_promise(rule, depth, promised) if size == 1 else rule
    attributes = {"zero_point": zero_point, "has_bias": True, **rule.requant.attributes()}
    expected = Dense().reference(Dense().stated(attributes), [x, weight, bias, *rule.operands])
    folded = bias - zero_point * weight.astype(np.int32).sum(1, dtype=np.int32)
    stride = padded(size * depth)
    fields = {
        "x": x,
        "weight": pack_weights(weight.view(np.int8) if size == 2 else stored),
        "bias": None if without_bias else folded.astype(np.int32),
        "y": Out((rows, columns), rule.requant.out_dtype),
        "scratch": Scratch(4 * stride + 4),
        "scratch_stride": 4 * stride + 4,
        "rows": rows,
        "columns": columns,
        "depth": depth,
        "x_stride": size * depth,
        "depth_stride": stride,
        "y_stride": columns * rule.bytes,
        "x_type": TYPE_CODES[dtype],
        "weight_offset": offset,
        "requant": rule.fields,
    }
    return Case(Call("dense", fields, misalign={"x": misalign}), expected, rows * columns * depth)


def nibble_dense_case(
    rng: np.random.Generator,
    columns: int,
    depth: int,
    dtype: str = "int8",
    *,
    per_channel: bool = True,
    misalign: int = 0,
    without_bias: bool = False,
) -> Case:
    """One row times weights of four bits."""
    x, weight = random_bytes(rng, (1, depth), dtype), rng.integers(-8, 8, (columns, depth)).astype(np.int8)
    bias = rng.integers(-1000, 1000, columns).astype(np.int32) * (not without_bias)
    channels = columns if per_channel else 1
    rules = (random_rule(rng, "pulp", 255 * 8 * depth + 1000, channels) for _ in count())
    rule = next(rule for rule in rules if rule.requant.out_dtype in BYTES)
    attributes = {"zero_point": 0, "has_bias": True, **rule.requant.attributes()}
    expected = Dense().reference(Dense().stated(attributes), [x, weight, bias, *rule.operands])
    fields = {
        "x": x,
        "weight": pack_nibbles(weight),
        "bias": None if without_bias else bias.astype(np.int32),
        "y": Out((1, columns), rule.requant.out_dtype),
        "columns": columns,
        "depth": depth,
        "x_type": TYPE_CODES[dtype],
        "requant": rule.fields,
    }
    return Case(Call("nibble_dense", fields, misalign={"x": misalign}), expected, columns * depth)


def matmul_case(
    rng: np.random.Generator,
    batch: int,
    rows: int,
    columns: int,
    depth: int,
    kind: str = "pulp",
    *,
    types: tuple[str, str] = ("int8", "int8"),
    transpose_b: bool = True,
    zero_points: tuple[int, int] = (0, 0),
    per_channel: bool = False,
    misalign: int = 0,
) -> Case:
    a = random_bytes(rng, (batch, rows, depth), types[0])
    b = random_bytes(rng, (batch, columns, depth) if transpose_b else (batch, depth, columns), types[1])
    rule = with_promise(make_rule(rng, kind, 2 * depth, columns, per_channel), depth)
    attributes = {"transpose_b": transpose_b, "zero_point_a": zero_points[0], "zero_point_b": zero_points[1]}
    expected = Matmul().reference(Matmul().stated({**attributes, **rule.requant.attributes()}), [a, b, *rule.operands])
    stride = padded(depth)
    room = (4 if depth % 4 == 0 and misalign == 0 else 8) * stride + 4
    fields = {
        "a": a,
        "b": b,
        "y": Out((batch, rows, columns), rule.requant.out_dtype),
        "scratch": Scratch(room),
        "scratch_stride": room,
        "batch": batch,
        "rows": rows,
        "columns": columns,
        "depth": depth,
        "a_stride": depth,
        "b_stride": b.shape[2],
        "y_stride": columns * rule.bytes,
        "a_batch_stride": rows * depth,
        "b_batch_stride": b[0].size,
        "y_batch_stride": rows * columns * rule.bytes,
        "transpose_b": int(transpose_b),
        "a_type": TYPE_CODES[types[0]],
        "b_type": TYPE_CODES[types[1]],
        "zero_point_a": zero_points[0],
        "zero_point_b": zero_points[1],
        "requant": rule.fields,
    }
    moved = {"a": misalign, "b": (misalign + 1) % 4 if misalign else 0}
    return Case(Call("matmul", fields, misalign=moved), expected, batch * rows * columns * depth)


@dataclass(frozen=True)
class Window:
    """Kernel size, strides, dilation and padding (top, left, bottom, right)."""

    kernel: tuple[int, int] = (3, 3)
    strides: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)

    def fields(self, height: int, width: int) -> dict[str, int]:
        """What every windowed kernel takes."""
        out_height, out_width = self.output(height, width)
        return {
            "height": height,
            "width": width,
            "out_height": out_height,
            "out_width": out_width,
            "kernel_height": self.kernel[0],
            "kernel_width": self.kernel[1],
            "stride_y": self.strides[0],
            "stride_x": self.strides[1],
            "dilation_y": self.dilation[0],
            "dilation_x": self.dilation[1],
            "pad_top": self.pads[0],
            "pad_left": self.pads[1],
        }

    def output(self, height: int, width: int) -> tuple[int, int]:
        return output_size(self.attributes, height, width, *self.kernel)

    @property
    def swapped_pads(self) -> tuple[int, int, int, int]:
        top, left, bottom, right = self.pads
        return left, top, right, bottom

    @property
    def attributes(self) -> WindowAttributes:
        return WindowAttributes(strides=self.strides, dilation=self.dilation, pads=self.pads)


def conv2d_case(
    rng: np.random.Generator,
    size: tuple[int, int, int],
    out_channels: int,
    window: Window,
    kind: str = "pulp",
    *,
    dtype: str = "int8",
    per_channel: bool = True,
    zero_point: int = 0,
    misalign: int = 0,
    windows: int = 4,
    offset: int = 0,
) -> Case:
    height, width, channels = size
    x = random_bytes(rng, (1, *size), dtype)
    stored = random_bytes(rng, (out_channels, *window.kernel, channels), "int8")
    weight = stored.astype(np.int16) + np.int16(offset)
    bias = rng.integers(-1000, 1000, out_channels).astype(np.int32)
    depth = weight[0].size
    rule = with_promise(make_rule(rng, kind, 2 * depth, out_channels, per_channel), depth)
    attributes = {"layout": "NHWC", "groups": 1, "zero_point": zero_point, "has_bias": True, **window.attributes}
    expected = Conv2d().reference(
        Conv2d().stated({**attributes, **rule.requant.attributes()}), [x, weight, bias, *rule.operands]
    )
    stride = padded(depth)
    folded = bias - zero_point * weight.reshape(out_channels, -1).astype(np.int32).sum(1, dtype=np.int32)
    fields = {
        **window.fields(height, width),
        "x": x,
        "weight": pack_weights(stored),
        "bias": folded.astype(np.int32),
        "y": Out(expected.shape, rule.requant.out_dtype),
        "scratch": Scratch(windows * stride + 4),
        "scratch_stride": windows * stride + 4,
        "channels": channels,
        "out_channels": out_channels,
        "pad_value": zero_point,
        "y_pixel_stride": out_channels * rule.bytes,
        "depth_stride": stride,
        "x_type": TYPE_CODES[dtype],
        "weight_offset": offset,
        "requant": rule.fields,
    }
    return Case(Call("conv2d", fields, misalign={"x": misalign}), expected, expected.size * depth)


def depthwise_case(
    rng: np.random.Generator,
    size: tuple[int, int, int],
    window: Window,
    kind: str = "pulp",
    *,
    dtype: str = "int8",
    per_channel: bool = True,
    zero_point: int = 0,
    misalign: int = 0,
    plane_rows: int = 0,
    multiplier: int = 1,
    turned: bool = False,
) -> Case:
    """`turned`: the kernel sees columns as rows."""
    height, width, channels = size
    outputs = channels * multiplier
    x = random_bytes(rng, (1, *size), dtype)
    weight = random_bytes(rng, (outputs, *window.kernel, 1), "int8")
    bias = rng.integers(-1000, 1000, outputs).astype(np.int32)
    taps = window.kernel[0] * window.kernel[1]
    rule = with_promise(make_rule(rng, kind, 2 * taps, outputs, per_channel), taps)
    attributes = {"layout": "NHWC", "groups": channels, "zero_point": zero_point, "has_bias": True}
    attributes |= {**window.attributes, **rule.requant.attributes()}
    expected = Conv2d().reference(Conv2d().stated(attributes), [x, weight, bias, *rule.operands])
    folded = bias - zero_point * weight.reshape(outputs, -1).astype(np.int32).sum(1, dtype=np.int32)
    filters, strides = weight[..., 0], {"x": (width * channels, channels)}
    strides["y"] = (expected.shape[2] * outputs * rule.bytes, outputs * rule.bytes)
    if turned:
        filters, strides = filters.transpose(0, 2, 1), {name: pair[::-1] for name, pair in strides.items()}
        window = Window(
            *(getattr(window, name)[::-1] for name in ("kernel", "strides", "dilation")), window.swapped_pads
        )
        height, width = width, height
    shape = window.fields(height, width)
    reach = (window.kernel[0] - 1) * window.dilation[0] + 1
    columns = (window.kernel[1] - 1) * window.dilation[1] + 1
    stride = plane_stride(shape["out_width"], columns, window.strides[1], window.pads[1])
    rows = max(plane_rows, reach)
    room = scratch_bytes(
        shape["out_width"], stride, rows, 4 * multiplier * min(8, (rows - reach) // window.strides[0] + 1)
    )
    fields = {
        **shape,
        "x": x,
        "weight": pack_depthwise_weights(filters, window.strides[1]),
        "bias": folded.astype(np.int32),
        "y": Out(expected.shape, rule.requant.out_dtype),
        "scratch": Scratch(room),
        "scratch_stride": room,
        "plane_stride": stride,
        "plane_rows": rows,
        "channels": channels,
        "multiplier": multiplier,
        "pad_value": zero_point,
        "x_row_stride": strides["x"][0],
        "x_pixel_stride": strides["x"][1],
        "y_row_stride": strides["y"][0],
        "y_pixel_stride": strides["y"][1],
        "x_type": TYPE_CODES[dtype],
        "requant": rule.fields,
    }
    return Case(Call("depthwise_conv2d", fields, misalign={"x": misalign}), expected, expected.size * taps)


def small_depthwise_case(
    rng: np.random.Generator,
    size: tuple[int, int, int],
    window: Window,
    kind: str = "pulp",
    *,
    dtype: str = "int8",
    per_channel: bool = True,
    zero_point: int = 0,
    misalign: int = 0,
    multiplier: int = 1,
) -> Case:
    """The call of the other depthwise kernel, with the weights of its windows spread over the picture."""
    other = depthwise_case(
        rng, size, window, kind, dtype=dtype, per_channel=per_channel, zero_point=zero_point, multiplier=multiplier
    )
    given, channels = other.call.arguments, size[2]
    filters = given["weight"][..., : window.kernel[1]]
    bias = given["bias"] + zero_point * filters.astype(np.int32).sum((1, 2), dtype=np.int32)
    weight = weights_of_pixels(filters, size[:2], window.output(*size[:2]), window.attributes)
    folded = bias[:, None] - zero_point * weight.astype(np.int32).sum(2, dtype=np.int32)
    outputs, pixels = weight.shape[1], size[0] * size[1]
    room = 4 * padded(pixels) + 16 * multiplier * outputs
    fields = {
        "x": given["x"],
        "weight": weight,
        "bias": folded.astype(np.int32),
        "y": given["y"],
        "scratch": Scratch(room),
        "scratch_stride": room,
        "pixels": pixels,
        "outputs": outputs,
        "channels": channels,
        "multiplier": multiplier,
        "x_type": given["x_type"],
        "requant": given["requant"],
    }
    return Case(Call("small_depthwise", fields, misalign={"x": misalign}), other.expected, other.work)
