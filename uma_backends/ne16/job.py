"""One NE16 job: what a tile computes, without addresses."""

from dataclasses import dataclass, replace
from typing import ClassVar

from tvm_pulp.errors import UserError
from uma_backends.conv_array.arithmetic.requantization import Padding, Requantization
from uma_backends.conv_array.base_job import TOO_MANY_SUBTILES, BaseJob
from uma_backends.conv_array.modes import pads_wrongly
from uma_backends.ne16.geometry import PATCH, Mode, subtile_sizes

__all__ = ["LEAST_STRIDED", "FilterMask", "Ne16Job", "Padding", "Patch", "Requantization", "patches"]

# The hardware sources keep nine bits of the weight offset.
WEIGHT_OFFSETS = range(-256, 256)
# Smallest padded input whose patches of stride 2 were ever tried.
LEAST_STRIDED = 5


@dataclass(frozen=True, slots=True)
class FilterMask:
    """Rows and columns of a 3x3 filter that do not count."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0


NO_MASK = FilterMask()


@dataclass(frozen=True, slots=True)
class Ne16Job(BaseJob):
    """A tile as NE16 executes it.

    `strided`: a 3x3 patch of stride 2, of up to 2x2 outputs, whose bottom and right padding has the value too.
    """

    array: ClassVar[str] = "NE16"

    input_bits: int = 8
    strided: bool = False
    filter_mask: FilterMask = NO_MASK

    def impossible(self) -> tuple[tuple[bool, str], ...]:
        # `super()` does not work in a class with slots, which is made twice.
        return (*BaseJob.impossible(self), *_impossible(self))

    @property
    def features(self) -> dict[int, str]:
        flags = ((3, self.input_bits == 16, "16-bit inputs"), (8, self.strided, "stride 2"))
        return {bit: name for bit, has_it, name in flags if has_it}

    @property
    def output_step(self) -> int:
        """A strided job keeps every second row and column."""
        return 2 if self.strided else 1

    @property
    def input_bytes(self) -> int:
        """Bytes of the channels of one pixel: what the array counts."""
        return self.input_channels * self.input_bits // 8


def _impossible(job: Ne16Job) -> tuple[tuple[bool, str], ...]:
    """Conditions and, as a template, why the hardware cannot do it."""
    pad, how, mask = job.padding, job.requantization, job.filter_mask
    masked = (mask.top, mask.bottom, mask.left, mask.right)
    depthwise, linear, is_1x1 = job.mode is Mode.DEPTHWISE_3X3, job.mode is Mode.LINEAR, job.mode.kernel == 1
    ends = ((job.output_height, pad.bottom), (job.output_width, pad.right))
    return (
        (job.has_too_many(subtile_sizes(job.mode)), TOO_MANY_SUBTILES),
        (
            job.weight_offset not in WEIGHT_OFFSETS,
            f"weight offset {{job.weight_offset}} is outside {WEIGHT_OFFSETS[0]} to {WEIGHT_OFFSETS[-1]}",
        ),
        (
            not job.strided and any(pads_wrongly(size, PATCH, padding) for size, padding in ends),
            "2 padded pixels behind a last subtile of 1 pixel are padded wrongly, cut the tile elsewhere",
        ),
        (job.input_bits not in (8, 16), "activations have {job.input_bits} bits, use 8 or 16"),
        (job.input_bits == 16 and (depthwise or linear), "16-bit activations need the dense or the 1x1 mode"),
        (linear and (job.output_height, job.output_width) != (1, 1), "linear mode computes one pixel, use 1x1"),
        (linear and job.input_channels % 16 != 0, "linear mode takes channels in sixteens, pad them or use 1x1"),
        (job.strided and is_1x1, "a 1x1 job has its stride in the strides of its input"),
        (job.strided and max(job.output_height, job.output_width) > 2, "a strided job computes at most 2x2 pixels"),
        (job.strided and any(s % 2 for s in job.output_strides), "a strided job needs even strides of its output"),
        (any(masked) and is_1x1, "only 3x3 filters can be masked"),
        (not all(0 <= side <= 3 for side in masked), "a filter mask covers 0 to 3 rows or columns a side"),
        (job.stream_in and depthwise, "stream-in is wrong in depthwise mode, add on the cores"),
        (how is not None and how.scale_bits not in (8, 16, 32), "scales have {how.scale_bits} bits, use 8, 16 or 32"),
    )


@dataclass(frozen=True, slots=True)
class Patch:
    """A job of stride 2, and the output pixel it begins with."""

    row: int
    column: int
    job: Ne16Job


def patches(job: Ne16Job, height: int, width: int) -> list[Patch]:
    """The jobs of a 3x3 layer of stride 2, described as one job, on an input of `height` x `width` pixels.

    The step between subtiles is three pixels, where four are needed: every 2x2 outputs are a job. Where the outputs are
    odd in number, the last patch overlaps the one before.
    """
    pad = job.padding
    if min(height + pad.top, width + pad.left) < LEAST_STRIDED:
        raise UserError(
            f"NE16 job: {height}x{width} pixels are too few for the strided mode, use at least {LEAST_STRIDED} "
            f"with top and left padding."
        )
    pixel, row = job.input_strides
    output_pixel, output_row = job.output_strides
    layer = replace(
        job,
        strided=True,
        output_height=min(2, job.output_height),
        output_width=min(2, job.output_width),
        input_pixel_stride=pixel,
        input_row_stride=row if job.input_row_stride is not None else width * pixel,
        output_pixel_stride=output_pixel,
        output_row_stride=output_row,
    )
    rows, columns = _starts(job.output_height), _starts(job.output_width)
    # The window of the last patch ends behind the input only where an odd number of pixels is left.
    bottom = pad.bottom if (height + pad.top - 3) % 2 else 0
    right = pad.right if (width + pad.left - 3) % 2 else 0
    found = []
    for y in rows:
        for x in columns:
            padding = Padding(
                pad.top if y == 0 else 0,
                bottom if y == rows[-1] else 0,
                pad.left if x == 0 else 0,
                right if x == columns[-1] else 0,
                pad.value,
            )
            found.append(Patch(y, x, replace(layer, padding=padding)))
    return found


def _starts(outputs: int) -> list[int]:
    return [2 * i - (outputs % 2 if i else 0) for i in range((outputs + 1) // 2)]
