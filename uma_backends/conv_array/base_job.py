"""A job of an array of convolutions, without addresses: fields and sizes that all such arrays have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tvm_pulp.errors import UserError
from uma_backends.conv_array.arithmetic.requantization import (
    DEFAULT_REQUANTIZATION,
    MAX_PADDING,
    NO_PADDING,
    Padding,
    Requantization,
)
from uma_backends.conv_array.modes import Mode, subtiles

MAX_SUBTILES = 0xFFFF
TOO_MANY_SUBTILES = f"a dimension needs more than {MAX_SUBTILES} subtiles, cut it into several jobs"
_SIDES = "({pad.top}, {pad.bottom}, {pad.left}, {pad.right})"
_TOO_FAR = f"padding {_SIDES} exceeds {MAX_PADDING} pixels on a side, pad the tensor in memory"


@dataclass(frozen=True, slots=True)
class BaseJob:
    """A tile as the array executes it; raises UserError for what the hardware cannot do.

    Strides are in bytes; None means a dense HWC tensor. `requantization=None` delivers raw 32-bit accumulators.
    """

    array: ClassVar[str]  # its name for people

    mode: Mode
    input_channels: int
    output_channels: int
    output_height: int
    output_width: int
    padding: Padding = NO_PADDING
    weight_bits: int = 8
    weight_offset: int = -128
    output_bits: int = 8
    requantization: Requantization | None = DEFAULT_REQUANTIZATION
    stream_in: bool = False
    input_pixel_stride: int | None = None
    input_row_stride: int | None = None
    output_pixel_stride: int | None = None
    output_row_stride: int | None = None

    def __post_init__(self) -> None:
        reason = next((reason for is_so, reason in self.impossible() if is_so), None)
        if reason is not None:
            raise UserError(f"{self.array} job: {reason.format(job=self, pad=self.padding, how=self.requantization)}.")

    def impossible(self) -> tuple[tuple[bool, str], ...]:
        """Conditions and, as a template, why the hardware cannot do it: those of all such arrays."""
        pad, how = self.padding, self.requantization
        sides, depthwise = (pad.top, pad.bottom, pad.left, pad.right), self.mode is Mode.DEPTHWISE_3X3
        sizes = (self.input_channels, self.output_channels, self.output_height, self.output_width)
        return (
            (min(sizes) < 1, "every dimension must be at least 1"),
            (not 2 <= self.weight_bits <= 8, "weights have {job.weight_bits} bits, use 2 to 8"),
            (self.mode.kernel == 1 and any(sides), "a 1x1 job cannot be padded, pad the tensor in memory"),
            (not 0 <= min(sides) <= max(sides) <= MAX_PADDING, _TOO_FAR),
            (min(self.input_height, self.input_width) < 1, "the output consists of padding only, shrink the padding"),
            (
                depthwise and self.input_channels != self.output_channels,
                "depthwise needs as many output as input channels, split the multiplier into jobs",
            ),
            (self.output_bits not in (8, 32), "outputs have {job.output_bits} bits, use 8 or 32"),
            (self.stream_in and self.output_bits != 32, "stream-in needs 32-bit output, requantize on the cores"),
            (how is None and self.output_bits != 32, "raw accumulators need 32-bit output"),
            (how is not None and not 0 <= how.shift <= 31, "shift {how.shift} is outside 0 to 31"),
        )

    @property
    def features(self) -> dict[int, str]:
        """Features that only some arrays have, those of the job by their bit in the configuration word."""
        return {}

    @property
    def output_step(self) -> int:
        """Computed rows and columns of which one is kept."""
        return 1

    @property
    def computed_height(self) -> int:
        """Rows that the array computes, whether it keeps them or not."""
        return self.output_step * (self.output_height - 1) + 1

    @property
    def computed_width(self) -> int:
        return self.output_step * (self.output_width - 1) + 1

    @property
    def extents(self) -> tuple[int, int, int, int]:
        """Sizes that an array cuts into subtiles: bytes of input channels, output channels, rows and columns."""
        return self.input_bytes, self.output_channels, self.computed_height, self.computed_width

    def has_too_many(self, sizes: Sequence[int]) -> bool:
        """Tell if an extent needs more subtiles of its size than registers count."""
        pairs = zip(self.extents, sizes, strict=True)
        return any(subtiles(extent, size) > MAX_SUBTILES for extent, size in pairs)

    @property
    def input_height(self) -> int:
        return self.computed_height + self.mode.halo - self.padding.top - self.padding.bottom

    @property
    def input_width(self) -> int:
        return self.computed_width + self.mode.halo - self.padding.left - self.padding.right

    @property
    def input_bytes(self) -> int:
        """Bytes of the channels of one pixel."""
        return self.input_channels

    @property
    def output_bytes(self) -> int:
        """Bytes of one output element."""
        return self.output_bits // 8

    @property
    def input_strides(self) -> tuple[int, int]:
        """Pixel and row stride of the input in bytes."""
        pixel = self.input_bytes if self.input_pixel_stride is None else self.input_pixel_stride
        return pixel, self.input_width * pixel if self.input_row_stride is None else self.input_row_stride

    @property
    def output_strides(self) -> tuple[int, int]:
        """Pixel and row stride of the output in bytes."""
        dense = self.output_channels * self.output_bytes
        pixel = dense if self.output_pixel_stride is None else self.output_pixel_stride
        return pixel, self.output_width * pixel if self.output_row_stride is None else self.output_row_stride

    @property
    def macs(self) -> int:
        """Useful multiply-accumulate operations."""
        per_output = self.mode.taps * (1 if self.mode is Mode.DEPTHWISE_3X3 else self.input_channels)
        return self.output_height * self.output_width * self.output_channels * per_output
