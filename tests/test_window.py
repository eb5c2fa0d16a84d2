"""Windows along one axis: what they read, and the padding that parts of their outputs leave."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tvm_pulp.qnn.window_attributes import StepAttributes, WindowAttributes, windows
from tvm_pulp.window import Window, halves


def _positions(window: Window, start: int, count: int) -> list[int]:
    """Every position that outputs read, one by one."""
    return [
        (start + i) * window.stride + tap * window.dilation - window.before
        for i in range(count)
        for tap in range(window.kernel)
    ]


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Window, int]:
    """A window and the size of an input, with windows that are no larger than the padded input."""
    window = Window(draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    sides = (draw(st.integers(0, window.reach)) for _ in range(2))
    window = Window(window.kernel, window.stride, window.dilation, *sides)
    size = draw(st.integers(1, 12))
    assume(size + window.before + window.after > window.reach)
    return window, size


@given(_cases(), st.data())
def test_a_part_reaches_what_its_windows_read(case: tuple[Window, int], data: st.DataObject) -> None:
    """Positions inside the input are loaded, those outside are padding, and nothing needless is loaded."""
    window, size = case
    outputs = window.output_extent(size)
    start = data.draw(st.integers(0, outputs - 1))
    count = data.draw(st.integers(1, outputs - start))
    read = _positions(window, start, count)
    wanted = [p for p in range(min(read), max(read) + 1) if 0 <= p < size]
    span = window.span(start, count, size)
    assert (span.start, span.start + span.size - 1) == (wanted[0], wanted[-1])
    assert (span.before, span.after) == (wanted[0] - min(read), max(read) - wanted[-1])
    assert window.reads(start, count) == (min(read), max(read) + 1)
    assert window.read_extent(count) == max(read) + 1 - min(read)


@given(_cases())
def test_outputs_are_the_windows_in_the_padded_input(case: tuple[Window, int]) -> None:
    window, size = case
    outputs = window.output_extent(size)
    last = size + window.after - 1
    assert max(_positions(window, outputs - 1, 1)) <= last < max(_positions(window, outputs, 1))
    read = _positions(window, 0, outputs)
    assert window.is_padded(outputs, size) == (min(read) < 0 or max(read) >= size)
    assert window.padding_after(outputs, size) == max(read) - size + 1
    for tap in range(window.kernel):
        met = np.arange(window.before + size + window.after)[window.met(tap, outputs)]
        assert list(met - window.before) == [window.position(i, tap) for i in range(outputs)]


@given(_cases())
def test_a_transposed_convolution_is_as_large_as_what_its_inputs_write(case: tuple[Window, int]) -> None:
    window, size = case
    written = _positions(window, 0, size)
    assert window.transposed_extent(size) == max(written) + 1 - window.after


def test_a_part_in_the_padding_reads_one_position() -> None:
    span = Window(kernel=1, before=3).span(0, 2, 5)
    assert (span.start, span.size) == (0, 1)


@pytest.mark.parametrize(("size", "kernel", "stride"), [(5, 3, 1), (6, 3, 2), (7, 4, 1), (4, 1, 3)])
@pytest.mark.parametrize("larger_first", [False, True])
def test_same_pads_give_the_size_by_the_stride(size: int, kernel: int, stride: int, larger_first: bool) -> None:
    window = Window.same(size, kernel, stride, larger_first=larger_first)
    assert window.output_extent(size) == -(-size // stride)
    difference = window.after - window.before
    assert difference in ((-1, 0) if larger_first else (0, 1))


def test_halves() -> None:
    assert (halves(5), halves(5, larger_first=True), halves(4)) == ((2, 3), (3, 2), (2, 2))


def test_windows_of_a_picture() -> None:
    padded = WindowAttributes(strides=(1, 2), dilation=(3, 1), pads=(4, 5, 6, 7))
    assert windows(padded, (8, 9)) == (Window(8, 1, 3, 4, 6), Window(9, 2, 1, 5, 7))
    assert windows(StepAttributes(strides=(1, 2), dilation=(3, 1)), (8, 9)) == (Window(8, 1, 3), Window(9, 2))
