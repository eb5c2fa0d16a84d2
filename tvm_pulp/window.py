"""A window that moves along one axis: kernel, stride, dilation and padding as one affine map.

Tap `k` of the window of output `i` lies at position `i * stride + k * dilation - before` of the input; positions
outside of the input are padding. A transposed convolution is the same map the other way: every input `i` adds to
position `i * stride + k * dilation - before` of the result.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tvm_pulp.quick_records import quick_record

# Numbers, arrays of them, or expressions of loops.
Index = TypeVar("Index", int, np.ndarray)


@dataclass(frozen=True)
class InputSpan:
    """Input positions [start, start + size) of one axis, and the padding left before and after them."""

    start: int
    size: int
    before: int
    after: int


@quick_record()
class Window:
    """One axis of a convolution or a pool."""

    kernel: int = 1
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @staticmethod
    def same(size: int, kernel: int, stride: int = 1, dilation: int = 1, *, larger_first: bool = False) -> "Window":
        """Padded so that the result has the input's size, divided by the stride and rounded up.

        Of an odd total the larger half is behind the input, or before it.
        """
        window = Window(kernel, stride, dilation)
        before, after = halves(max(0, window.padding_after(-(-size // stride), size)), larger_first=larger_first)
        return Window(kernel, stride, dilation, before, after)

    @property
    def reach(self) -> int:
        """Distance of the last tap from the first."""
        return (self.kernel - 1) * self.dilation

    def position(self, output: Index, tap: Index | int = 0) -> Index:
        """Input position of a tap of an output's window; below zero or behind the input it is padding."""
        return output * self.stride + tap * self.dilation - self.before

    def output_extent(self, size: int) -> int:
        """Number of outputs of an input."""
        return self.windows_in(size + self.before + self.after)

    def windows_in(self, size: int) -> int:
        """Number of windows that lie in so many positions altogether."""
        return (size - self.reach - 1) // self.stride + 1

    def read_extent(self, count: int) -> int:
        """Positions from the first to the last that so many outputs read, padding included."""
        return (count - 1) * self.stride + self.reach + 1

    def transposed_extent(self, size: int) -> int:
        """Size of the result of a transposed convolution; the padding is cut off."""
        return self.read_extent(size) - self.before - self.after

    def reads(self, start: int, count: int) -> tuple[int, int]:
        """First position that outputs [start, start + count) read, and the one behind their last, padding included."""
        first = self.position(start)
        return first, first + self.read_extent(count)

    def span(self, start: int, count: int, size: int) -> InputSpan:
        """Part of an input that outputs [start, start + count) read, and the padding that they still need."""
        first, stop = self.reads(start, count)
        # Outputs that lie in the padding altogether still need one position: a tensor cannot be empty.
        begin = min(max(first, 0), size - 1)
        end = max(min(stop, size), begin + 1)
        return InputSpan(begin, end - begin, begin - first if first < begin else 0, max(0, stop - end))

    def padding_after(self, count: int, size: int) -> int:
        """Padding behind an input that so many outputs read; below zero it is how much of the input they leave."""
        return self.read_extent(count) - self.before - size

    def is_padded(self, count: int, size: int) -> bool:
        """Tell if some of so many outputs read padding."""
        return self.before > 0 or self.padding_after(count, size) > 0

    def met(self, tap: int, count: int) -> slice:
        """Positions of the padded input that a tap meets in the windows of so many outputs."""
        first = tap * self.dilation
        return slice(first, first + (count - 1) * self.stride + 1, self.stride)


def halves(total: int, *, larger_first: bool = False) -> tuple[int, int]:
    """Padding before and after an axis; of an odd total the second half is larger, or the first."""
    small, large = total // 2, total - total // 2
    return (large, small) if larger_first else (small, large)
