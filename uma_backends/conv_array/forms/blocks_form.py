"""Depthwise convolutions of any kernel that reaches from a block of pixels to its neighbours: one job per channel.

Blocks of a channel's picture are pixels of a 3x3 job, their pixels its channels:

    7x7 on 16 x 16 pixels    becomes    3x3 on 4 x 4 pixels of 16 channels
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.qnn.window_attributes import windows
from tvm_pulp.uma import Box, Derived, Kernel, Local, Recipe, Step, TileAxis, has_kernel
from tvm_pulp.window import Window
from uma_backends.conv_array.arithmetic.layer_arithmetic import LayerArithmetic
from uma_backends.conv_array.forms.array_form import ACTIVATION_SLACK, ArrayContext, ArrayForm
from uma_backends.conv_array.modes import Mode

# A word of pixels; the heights are tried.
_BLOCK_WIDTH, _BLOCK_HEIGHTS = 4, (1, 2, 4)
# Results of a channel: fewer do not repay a job.
_LEAST_RESULTS = 20
# Channels that the kernel before the jobs takes at a time.
_CHANNELS = 4


@dataclass(frozen=True)
class BlockAxis:
    """Windows along rows or columns, and how many of these a block has."""

    window: Window
    block: int

    @property
    def results(self) -> int:
        """Number of results of a block."""
        return self.block // self.window.stride

    @property
    def fits(self) -> bool:
        """Tell whether what a block's results read lies in it and its neighbours."""
        first, stop = self.window.reads(0, self.results)
        return self.block % self.window.stride == 0 and first >= -self.block and stop <= 2 * self.block


@dataclass(frozen=True)
class BlocksForm(ArrayForm):
    """The cores lay out planes of blocks, the array multiplies channel after channel, the cores put pixels together."""

    block: tuple[int, int] = field(kw_only=True)

    @cached_property
    def windows(self) -> tuple[BlockAxis, BlockAxis]:
        """Windows along rows and along columns."""
        rows, columns = windows(Conv2dAttributes.of(self.layer), self.layer.inputs[1].spec.shape[1:3])
        return BlockAxis(rows, self.block[0]), BlockAxis(columns, self.block[1])

    @property
    def result(self) -> tuple[int, int]:
        """Rows and columns of the results of a block."""
        return self.windows[0].results, self.windows[1].results

    @property
    def _multiplier(self) -> int:
        return int(self.layer.outputs[0].spec.shape[3] // self.layer.inputs[0].spec.shape[3])

    def axes(self) -> tuple[TileAxis, ...]:
        down, across = self.result
        return (
            TileAxis(3, _CHANNELS * self._multiplier), TileAxis(1, down), TileAxis(2, across), TileAxis(0, limit=1),
        )  # fmt: skip

    @cached_property
    def _places(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Along an axis, for every result of a block and every tap: the block that it reads and the pixel in it."""
        found = []
        for w in self.windows:
            at = w.window.position(np.arange(w.results)[:, None], np.arange(w.window.kernel)) + w.block
            found.append((at // w.block, at % w.block))
        return tuple(found)

    def filters(self) -> np.ndarray:
        """Results of a block as output channels, pixels of a block as input channels."""
        weights = self.arithmetic.weights[..., 0]
        (by, row), (bx, column) = self._places
        channels, kh, _ = weights.shape
        (down, across), (height, width) = self.result, self.block
        dense = np.zeros((channels, down, across, height, width, 3, 3), weights.dtype)
        for r in range(down):
            for s in range(across):
                for ky in range(kh):
                    dense[:, r, s, row[r, ky], column[s], by[r, ky], bx[s]] = weights[:, ky]
        return dense.reshape(channels * down * across, height * width, 3, 3)

    def channels_read(self, box: Box) -> tuple[int, int]:
        return box.start[3] // self._multiplier, box.size[3] // self._multiplier

    def recipe(self, box: Box) -> Recipe:
        pixels, multiplier = self.block[0] * self.block[1], self._multiplier
        (down, across), channels = self.result, box.size[3]
        each = down * across
        blocks = -(-box.size[1] // down), -(-box.size[2] // across)
        before, source, rows, columns = self.picture(box, ACTIVATION_SLACK)
        inputs = source.spec.shape[3]
        # An odd number of words from plane to plane: neighbouring channels lie in different banks.
        plane = 4 * ((blocks[0] + 2) * (blocks[1] + 2) * (pixels // 4) | 1)
        laid = Local("blocks", TensorSpec((inputs, plane), source.spec.dtype), ACTIVATION_SLACK)
        top, left = (
            span.start - (start * w.window.stride - w.block)
            for span, start, w in zip((rows, columns), box.start[1:3], self.windows, strict=True)
        )
        fields = {
            "height": rows.size, "width": columns.size, "channels": inputs, "grid_height": blocks[0] + 2,
            "grid_width": blocks[1] + 2, "block_height": self.block[0], "plane_stride": plane,
            "top": top, "left": left, "pad_value": self.arithmetic.zero_point,
        }  # fmt: skip
        steps: list[Step] = [*before, Kernel("to_blocks", fields, (source,), (laid,))]
        result = blocks[0] * blocks[1] * each | 1
        sums = Local("sums", TensorSpec((channels, result), self.raw_dtype))
        job = self.array_job(*blocks, pixels, each)
        loads, step = self.job_steps(job, box.start[3] * each, source=laid, target=sums, channels=channels * each)
        filter_bytes, taps = (
            self.packed.spec.shape[1],
            self.layer.inputs[1].spec.elements // len(self.arithmetic.weights),
        )
        macs, itemsize = box.size[1] * box.size[2] * taps, self.arithmetic.output_bits // 8
        jobs = []
        for channel in range(channels):
            at = each * channel
            later = {"weights": at * filter_bytes, "scale": at * self.arithmetic.scale.itemsize, "shift": at}
            places = {"input": channel // multiplier * plane, "output": channel * result * itemsize}
            description = step.description.behind(**later, bias=4 * at, **places)
            jobs.append(replace(step, description=description, macs=macs))
        raw = Local("pixels", TensorSpec(box.size, self.raw_dtype))
        fields = {
            "height": box.size[1], "width": box.size[2], "channels": channels, "grid_width": blocks[1],
            "block_height": down, "block_width": across, "plane_stride": result * itemsize, "element_bytes": itemsize,
        }  # fmt: skip
        gather = Kernel("from_blocks", fields, (sums,), (raw,))
        return self.arranged([*steps, *loads, *jobs, gather, *self.finish(raw, box)])


def blocks_forms(layer: Layer, context: ArrayContext, arithmetic: LayerArithmetic) -> list[BlocksForm]:
    """The form with the fewest cycles of the array; none where the kernel reaches too far or the cores cannot help."""
    _, rows, columns, _ = layer.outputs[0].spec.shape
    if rows * columns < _LEAST_RESULTS:
        return []
    if not has_kernel(Kernel("to_blocks", {}, (), ()), context.costs):
        return []
    found = []
    for height in _BLOCK_HEIGHTS:
        form = BlocksForm(
            layer, context, f"3x3 over blocks of {height}x{_BLOCK_WIDTH} pixels", arithmetic, Mode.DENSE_3X3,
            block=(height, _BLOCK_WIDTH), derived=Derived(),
        )  # fmt: skip
        if all(window.fits for window in form.windows):
            each = form.result[0] * form.result[1]
            scale, bias = np.repeat(arithmetic.scale, each), np.repeat(arithmetic.bias, each)
            shift = None if arithmetic.shift is None else np.repeat(arithmetic.shift, each)
            found.append(replace(form, arithmetic=replace(arithmetic, scale=scale, bias=bias, shift=shift)))
    return sorted(found, key=lambda form: form.bound_cycles())[:1]
