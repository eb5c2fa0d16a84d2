"""Depthwise convolutions: rows of pixels are turned into planes of channels."""

from collections.abc import Iterator
from functools import cached_property
from math import prod

import numpy as np

from schedules.cluster.arithmetic import accumulator_reach, uniform_requant
from schedules.cluster.base import Arguments, Box, Fields, Layer, TileAxis, schedule
from schedules.cluster.conv2d import WindowKernel, picture_part
from schedules.kernel_cycles import Work, call_cost, family_of, kind_of, share, words, work
from schedules.kernel_numbers import KINDS
from schedules.packed_weights import has_moved_rows, pack_depthwise_weights, plane_stride, scratch_bytes
from schedules.window_fields import field_windows
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.tensor_spec import BYTES

# Output rows that are computed at a time: more save reading the rows between them again, and take L1 from the tile.
_ROWS_AT_ONCE = 8
# Fields that change places where columns are called rows.
_PAIRS = (
    ("height", "width"),
    ("out_height", "out_width"),
    ("kernel_height", "kernel_width"),
    ("stride_y", "stride_x"),
    ("dilation_y", "dilation_x"),
    ("pad_top", "pad_left"),
    ("x_row_stride", "x_pixel_stride"),
    ("y_row_stride", "y_pixel_stride"),
)


def applies(layer: Layer) -> bool:
    """As many groups as channels."""
    weight, channels = layer.inputs[1], layer.inputs[0].spec.shape[3]
    plain = layer.inputs[0].spec.dtype in BYTES and weight.data is not None and weight.spec.dtype == "int8"
    alone = Conv2dAttributes.of(layer).groups == channels > 1
    return plain and alone and uniform_requant(layer, accumulator_reach(layer))


@schedule("conv2d", applies)
class DepthwiseKernel(WindowKernel):
    kernel, label = "depthwise_conv2d", "depthwise kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(3, 4 * self.multiplier), TileAxis(2), TileAxis(0, limit=1))

    @cached_property
    def form_of_rows(self) -> tuple[bool, bool]:
        """Tell whether columns are called rows, and whether zeros stand between the weights of a dilated row."""
        _, *size = self.layer.outputs[0].spec.shape
        picture = Box((0, 0, 0, 0), (1, *size))
        whole = self.common(Arguments(self, picture), picture)

        def cycles(form: tuple[bool, bool]) -> int:
            return call_cost(self.function, self._seen(whole, *form), self.costs).cycles

        return min([(False, False), (False, True), (True, False), (True, True)], key=cycles)

    def common(self, call: Arguments, box: Box) -> Fields:
        common = super().common(call, box)
        channels = box.size[3] // self.multiplier
        strides = {"x_row_stride": common["width"] * channels, "x_pixel_stride": channels}
        strides["y_row_stride"] = box.size[2] * common["y_pixel_stride"]
        return {**common, **strides, "channels": channels, "multiplier": self.multiplier}

    def _seen(self, fields: Fields, turned: bool, spread: bool) -> Fields:
        """The fields where columns may be called rows and zeros may stand between weights, with those of planes."""
        f = dict(fields)
        if turned:
            f |= {name: fields[other] for pair in _PAIRS for name, other in (pair, pair[::-1])}
        down, across = field_windows(f)
        if spread:
            f |= {"kernel_width": across.reach + 1, "dilation_x": 1}
        f["plane_stride"] = plane_stride(f["out_width"], across.reach + 1, f["stride_x"], f["pad_left"])
        f["plane_rows"] = down.read_extent(min(f["out_height"], _ROWS_AT_ONCE))
        return f

    def _filters(self, turned: bool, spread: bool) -> np.ndarray:
        """Weights of all channels as the kernel reads them."""
        filters, a = self.layer.inputs[1].values[..., 0], Conv2dAttributes.of(self.layer)
        steps = list(zip(a.strides, a.dilation, strict=True))
        if turned:
            filters, steps = filters.transpose(0, 2, 1), steps[::-1]
        stride, dilation = steps[1]
        if spread:
            channels, height, width = filters.shape
            wide = np.zeros((channels, height, (width - 1) * dilation + 1), filters.dtype)
            wide[..., ::dilation] = filters
            filters = wide
        return pack_depthwise_weights(filters, stride)

    def fields(self, call: Arguments, box: Box) -> Fields:
        turned, spread = self.form_of_rows
        x = call.load("x", self.layer.inputs[0], picture_part(self.layer, box).inputs[0])
        filters = self.constant("packed_weight", self._filters(turned, spread))
        _, *rows = filters.spec.shape
        weight = call.load("weight", filters, Box((box.start[3], 0, 0), (box.size[3], *rows)))
        f = self._seen(self.common(call, box), turned, spread)
        family = family_of(self.costs.soc.software.kernels)
        fused = _is_fused(f) and not family.keeps_sums
        sums = 0 if fused else 4 * f["multiplier"] * min(f["out_height"], _ROWS_AT_ONCE)
        room = scratch_bytes(f["out_width"], f["plane_stride"], f["plane_rows"], sums)
        if family.reads_in_place:
            room = 4  # none, but all fields are there
        return {"x": x, "weight": weight, **call.scratch(room), **f}


def _is_fused(f: Fields) -> bool:
    return f["kernel_height"] == 3 and f["kernel_width"] <= 4 and kind_of(f) in ("pulp", "scaled")


def _chunks(lines: int, height: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Output rows that are computed together, and how often, of so many lines in channel groups of a height."""
    for rows, times in ((height, lines // height), (lines % height, 1)):
        yield at_once, times * (rows // at_once)
        yield rows % at_once, times * (rows % at_once > 0)


@work("depthwise_conv2d")
def depthwise_work(f: Fields, cores: int) -> Work:
    kernel, width, kind = (f["kernel_height"], f["kernel_width"]), f["out_width"], kind_of(f)
    if f["channels"] < 4 or f["dilation_x"] != 1:
        outputs = share(f["out_height"] * width, cores) * f["channels"] * f["multiplier"]
        return {"plain_call": 1, f"plain_output_{kind}": outputs, "plain_tap": outputs * prod(kernel)}
    lines = share(-(-f["channels"] // 4) * f["out_height"], cores)
    down, across = field_windows(f)
    most = down.windows_in(f["plane_rows"])
    chunks = [(rows, times) for rows, times in _chunks(lines, f["out_height"], most) if times]
    count, planes = sum(times for _, times in chunks), 4 * f["multiplier"]
    turned = sum(times * down.read_extent(rows) for rows, times in chunks)
    row_bytes, outputs = across.read_extent(width), planes * lines * width
    done: Work = {"call": 1, "chunk": count, "turned_row": turned, "turned_word": turned * words(row_bytes)}
    done |= {"filled": f["plane_rows"] * row_bytes / 4, "plane": count * planes}
    if _is_fused(f):
        name = "fused" if kind == "pulp" else "once" if f["requant.kind"] == KINDS["half_up"] else "twice"
        return done | {f"{name}_line": planes * lines, f"{name}_output": outputs}
    done |= {f"output_{kind}": outputs, "strip": planes * (count if width >= 4 else lines)}
    blocks = planes * -(-width // 4)
    if has_moved_rows(kernel[1], f["stride_x"]):
        pairs = blocks * sum(times * -(-rows // 2) for rows, times in chunks)
        reach = (3 * f["stride_x"] + kernel[1] + 3) // 4
        return done | {"column": blocks * count, "pair": pairs, f"pair_row_{f['stride_x']}{reach}": pairs * kernel[0]}
    size = words(kernel[1])
    rows = {"long_row": blocks * lines * kernel[0]} if size > 3 else {}
    return done | {"block": blocks * lines, "tap_word": blocks * lines * kernel[0] * size, **rows}
