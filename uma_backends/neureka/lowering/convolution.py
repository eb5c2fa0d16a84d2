"""A convolution to lower, and the convolution that one tile of its output is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from uma_backends.neureka.job import DEFAULT_REQUANTIZATION, NO_PADDING, Padding, Requantization


@dataclass(frozen=True, slots=True)
class Convolution:
    """A dense or depthwise convolution on an HWC tensor; padding is zero. A matrix product is a 1x1 convolution."""

    input_height: int
    input_width: int
    input_channels: int
    output_channels: int
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    padding: Padding = NO_PADDING
    depthwise: bool = False
    weight_bits: int = 8
    weight_offset: int = -128
    input_signed: bool = False
    output_bits: int = 8
    requantization: Requantization | None = DEFAULT_REQUANTIZATION
    weight_memory: bool = True

    @property
    def output_height(self) -> int:
        """Rows of the output."""
        return (self.input_height + self.padding.top + self.padding.bottom - self.kernel[0]) // self.stride[0] + 1

    @property
    def output_width(self) -> int:
        """Columns of the output."""
        return (self.input_width + self.padding.left + self.padding.right - self.kernel[1]) // self.stride[1] + 1

    @property
    def output_elements(self) -> int:
        """Elements of the output."""
        return self.output_height * self.output_width * self.output_channels

    @property
    def macs(self) -> int:
        """Useful multiply-accumulate operations."""
        per_output = self.kernel[0] * self.kernel[1] * (1 if self.depthwise else self.input_channels)
        return self.output_elements * per_output

    @property
    def has_padding(self) -> bool:
        """Whether any side is padded."""
        return any((self.padding.top, self.padding.bottom, self.padding.left, self.padding.right))


@dataclass(frozen=True, slots=True)
class Span:
    """Rows (or columns) of the input that a span of the output needs."""

    first: int
    count: int
    before: int
    after: int


def input_span(first: int, count: int, size: int, kernel: int, stride: int, padding: int) -> Span:
    """Return the input rows behind output rows [first, first + count) and the padding they see at both ends."""
    begin = first * stride - padding
    end = begin + (count - 1) * stride + kernel
    inside_begin, inside_end = max(begin, 0), min(end, size)
    return Span(inside_begin, inside_end - inside_begin, inside_begin - begin, end - inside_end)


def tile_of(
    convolution: Convolution, row: int, rows: int, column: int, columns: int, channels: int
) -> tuple[Convolution, Span, Span]:
    """Return the convolution that a rectangle of the output is, with the input rows and columns it reads."""
    pad = convolution.padding
    vertical = input_span(row, rows, convolution.input_height, convolution.kernel[0], convolution.stride[0], pad.top)
    horizontal = input_span(
        column, columns, convolution.input_width, convolution.kernel[1], convolution.stride[1], pad.left
    )
    tile = replace(
        convolution,
        input_height=vertical.count,
        input_width=horizontal.count,
        input_channels=channels if convolution.depthwise else convolution.input_channels,
        output_channels=channels,
        padding=Padding(vertical.before, vertical.after, horizontal.before, horizontal.after),
    )
    return tile, vertical, horizontal
