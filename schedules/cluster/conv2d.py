"""Convolutions of all channels: by windows in the kernel's scratch, and by windows laid out once for all cores."""

from dataclasses import replace

import numpy as np

from schedules.cluster import dense
from schedules.cluster.arithmetic import (
    accumulator_reach,
    are_bytes,
    folded_bias,
    typed,
    uniform_requant,
)
from schedules.cluster.base import SLACK, Arguments, Box, Fields, KernelForm, Layer, Schedule, TileAxis, register
from schedules.cluster.dense import DenseKernel, summed, tile_work
from schedules.cluster.steps import step_call
from schedules.kernel_cycles import Work, family_of, kind_of, words, work
from schedules.packed_weights import offset_weights, pack_weights, padded
from schedules.window_fields import field_windows, window_fields
from tvm_pulp.planning.tiling.forms.tile_rules import tile_part
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.qnn.tiles import Part
from tvm_pulp.qnn.window_attributes import windows
from tvm_pulp.uma.recipe import Call, Kernel, Local, Pointer, Recipe
from tvm_pulp.uma.windows import unfolding
from tvm_pulp.window import Window

_MOST_WINDOWS = 16
# Bytes of a window from which on the windows of all cores are large beside a small L1.
_LARGE_WINDOW = 192
# The product takes this much longer than the model of the dense kernel says, relative to that of the convolution.
_SLOWER = 1.025


def multiplies_bytes(layer: Layer) -> bool:
    """Tell whether the kernel can compute a layer of one group, or the groups of one."""
    plain = layer.inputs[0].spec.dtype in BYTES and are_bytes(layer.inputs[1])
    return plain and uniform_requant(layer, accumulator_reach(layer))


def applies(layer: Layer) -> bool:
    """One group, 8-bit input, constant weights of eight bits."""
    return Conv2dAttributes.of(layer).groups == 1 and multiplies_bytes(layer)


def applies_unfolded(layer: Layer) -> bool:
    """Layers of the convolution kernel with large windows."""
    _, kernel_height, kernel_width, channels = layer.inputs[1].spec.shape
    large = kernel_height * kernel_width * channels >= _LARGE_WINDOW and kernel_height * kernel_width > 1
    return large and channels >= 4 and applies(layer)


def applies_unfolded_int16(layer: Layer) -> bool:
    """One group of 16-bit inputs."""
    return Conv2dAttributes.of(layer).groups == 1 and dense.multiplies_int16(layer)


def picture_part(layer: Layer, box: Box) -> Part:
    """The part of a picture that windows of a part reach, with the padding that remains."""
    return tile_part(layer, Box(box.start, (1, *box.size[1:])))


class WindowKernel(KernelForm):
    """The common part of all kinds of convolution."""

    cut = (TileAxis(1), TileAxis(3, 4), TileAxis(2), TileAxis(0, limit=1))

    @property
    def multiplier(self) -> int:
        """Outputs of a channel, where channels are groups of their own."""
        return self.layer.inputs[1].spec.shape[0] // self.layer.inputs[0].spec.shape[3]

    def common(self, call: Arguments, box: Box) -> Fields:
        """Fields of bias, requantization, sizes, steps and padding."""
        layer, a, weights = self.layer, Conv2dAttributes.of(self.layer), self.layer.inputs[1].values
        part = picture_part(layer, box)
        source, moves = part.inputs[0], windows(Conv2dAttributes.of(part), weights.shape[1:3])
        bias = self.constant("folded_bias", folded_bias(layer))
        return {
            "bias": call.load("bias", bias, Box((box.start[3],), (box.size[3],))),
            "height": source.size[1], "width": source.size[2], "out_height": box.size[1], "out_width": box.size[2],
            **window_fields(*moves), "pad_value": a.zero_point,
            "x_type": typed(layer.inputs[0]), "y_pixel_stride": box.size[3] * call.output.spec.itemsize,
            **call.requant(box.span(3), short=self.rounds_short),
        }  # fmt: skip


class Conv2dKernel(WindowKernel):
    def filters(self, box: Box) -> np.ndarray:
        """Weights of a part's channels."""
        return self.layer.inputs[1].values[box.span(3)]

    def windows_at_once(self, box: Box, depth: int, moved: int) -> int:
        """Windows that a core lays out before it multiplies: more save calls and take L1 from the tile."""
        pixels = -(-(box.size[1] * box.size[2]) // self.cores)
        return max(4, min(_MOST_WINDOWS, moved // 2 // (self.cores * padded(depth)), padded(pixels)) // 4 * 4)

    def fields(self, call: Arguments, box: Box) -> Fields:
        filters, source = self.filters(box), picture_part(self.layer, box).inputs[0]
        depth, count = filters[0].size, box.size[3]
        x, stored = call.load("x", self.layer.inputs[0], source), offset_weights(filters)
        assert stored is not None
        packed = self.constant(f"packed_{box.start[3]}_{count}", pack_weights(stored[0]))
        weight = call.load_whole("weight", packed)
        room = self.windows_at_once(box, depth, source.elements + box.elements) * padded(depth)
        if family_of(self.costs.soc.software.kernels).reads_in_place:
            # A pixel of padding, or the windows of a block.
            room = filters.shape[3] if filters.shape[3] % 4 == 0 else 4 * padded(depth)
        return {
            "x": x, "weight": weight, **call.scratch(room + 4), "channels": filters.shape[3],
            "out_channels": count, "depth_stride": padded(depth), "weight_offset": stored[1], **self.common(call, box),
        }  # fmt: skip


class UnfoldedConv2d(DenseKernel):
    """Windows laid out once for all cores: less L1 than windows for every core."""

    label = "im2col + dense kernel"

    def axes(self) -> tuple[TileAxis, ...]:
        """Windows are laid out of one picture at a time."""
        return (TileAxis(0, limit=1), *super().axes()[1:])

    def recipe(self, box: Box) -> Recipe:
        layer, call = self.layer, Arguments(self, box)
        x, depth, part = layer.inputs[0], layer.inputs[1].values[0].size, picture_part(layer, box)
        source = call.load("x", x, part.inputs[0]).operand
        # The product reads windows instead.
        call.reads.remove(source)
        windows = Local("windows", TensorSpec((*box.size[:3], depth), x.spec.dtype), SLACK)
        call.reads.append(windows)
        copied = Kernel("im2col", unfolding(layer, Conv2dAttributes.of(part).pads), (source,), (windows,))
        # Generated C where no kernel copies windows of 16-bit values.
        unfold = step_call(copied, self.costs) or copied
        steps = call.finish(self.product(call, Pointer(windows), depth, box)).steps
        position, product = next((i, step) for i, step in enumerate(steps) if isinstance(step, Call))
        cost = replace(product.cost, cycles=round(_SLOWER * product.cost.cycles))
        return Recipe((*steps[:position], unfold, replace(product, cost=cost), *steps[position + 1 :]))


@work("conv2d")
def conv2d_work(f: Fields, cores: int) -> Work:
    pixels, channels, kernel = f["out_height"] * f["out_width"], f["channels"], (f["kernel_height"], f["kernel_width"])
    kind, depth = kind_of(f), kernel[0] * kernel[1] * channels
    work = tile_work(pixels, f["out_channels"], depth, kind, cores, staged=False)
    if "few_tile" in work:
        # The last pixels are few beside the others.
        work["tile"] = work.get("tile", 0) + work.pop("few_tile")
        work[f"output_{kind}"] = work.get(f"output_{kind}", 0) + work.pop(f"few_output_{kind}")
    if f["weight_offset"]:
        work = summed(work, min(4, pixels), depth)
    steps = (f["stride_y"], f["stride_x"], f["pad_top"], f["pad_left"])
    direct = kernel == (1, 1) and steps == (1, 1, 0, 0) and f["out_width"] == f["width"] and channels % 4 == 0
    if not direct:
        work |= _window_work(f, work["block"], min(4, pixels))
    return work


def _window_work(f: Fields, blocks: float, pixels: int) -> Work:
    """Windows of `blocks` times `pixels` output pixels, as many at a time as the scratch area holds."""
    windows, rows, row_bytes = blocks * pixels, f["kernel_height"], f["kernel_width"] * f["channels"]
    at_once = max(1, (f["scratch_stride"] - 4) // f["depth_stride"] // 4)
    work: Work = {"block": -(-blocks // at_once)}
    if f["dilation_x"] != 1:
        pixels = windows * rows * f["kernel_width"]
        return work | {"spread_pixel": pixels, "spread_pixel_word": pixels * words(f["channels"])}
    if f["dilation_y"] != 1:
        return work | {"spread_row": windows * rows, "spread_row_word": windows * rows * words(row_bytes)}
    down, across = field_windows(f)
    inside = _share_inside(down, f["out_height"], f["height"]) * _share_inside(across, f["out_width"], f["width"])
    edge, whole = windows * (1 - inside), windows * inside
    work |= {"edge_window": edge, "edge_row": edge * rows}
    if 4 <= row_bytes <= 16:
        # One kernel row of all windows of a line at a time.
        runs = work["block"] * max(1, min(4 * at_once, windows) / f["out_width"]) * inside
        return work | {"short_row": runs * rows, "short_word": whole * rows * words(row_bytes)}
    return work | {"window": whole, "window_row": whole * rows, "window_word": whole * rows * words(row_bytes)}


def _share_inside(window: Window, count: int, size: int) -> float:
    """Share of the windows that do not reach beyond the picture along an axis."""
    ends = (window.reads(output, 1) for output in range(count))
    return sum(first >= 0 and stop <= size for first, stop in ends) / count


register(
    "conv2d",
    Schedule(dense.applies, DenseKernel),
    Schedule(applies, Conv2dKernel),
    Schedule(dense.applies_int16, DenseKernel),
    Schedule(applies_unfolded_int16, UnfoldedConv2d),
    Schedule(applies_unfolded, UnfoldedConv2d, needs="im2col", is_smaller=True),
)
