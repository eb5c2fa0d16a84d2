"""Boxes: tiles cover a tensor once, and DMA transfers move exactly what slicing does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tvm_pulp.uma.box import Box, Transfer, pitched_transfers, split_axis, tiles, transfers

shapes = st.lists(st.integers(1, 6), min_size=1, max_size=5).map(tuple)


@st.composite
def boxes(draw: st.DrawFn) -> tuple[tuple[int, ...], Box]:
    shape = draw(shapes)
    start = [draw(st.integers(0, n - 1)) for n in shape]
    size = [draw(st.integers(1, n - a)) for n, a in zip(shape, start, strict=True)]
    return shape, Box(tuple(start), tuple(size))


def move(tensor: np.ndarray, local: np.ndarray, commands: list[Transfer], inward: bool) -> None:
    """What the DMA does: lines of `line` bytes `stride` apart outside, packed in L1."""
    for t in commands:
        assert t.bytes % t.line == 0
        for i in range(t.bytes // t.line):
            outside = slice(t.external + i * t.stride, t.external + i * t.stride + t.line)
            inside = slice(t.local + i * t.line, t.local + (i + 1) * t.line)
            if inward:
                local[inside] = tensor[outside]
            else:
                tensor[outside] = local[inside]


@given(boxes(), st.sampled_from(["int8", "int16", "int32"]))
def test_transfers_move_what_slicing_does(drawn: tuple[tuple[int, ...], Box], dtype: str) -> None:
    shape, box = drawn
    values = np.arange(1, np.prod(shape) + 1, dtype=dtype).reshape(shape)
    part = tuple(slice(a, e) for a, e in zip(box.start, box.end, strict=True))
    itemsize = np.dtype(dtype).itemsize
    commands = transfers(box, shape, itemsize)
    local = np.zeros(box.elements * itemsize, np.uint8)
    move(values.reshape(-1).view(np.uint8), local, commands, inward=True)
    np.testing.assert_array_equal(local.view(dtype).reshape(box.size), values[part])
    target = np.zeros_like(values)
    move(target.reshape(-1).view(np.uint8), local, commands, inward=False)
    expected = np.zeros_like(values)
    expected[part] = values[part]
    np.testing.assert_array_equal(target, expected)


@given(boxes())
def test_transfers_are_few(drawn: tuple[tuple[int, ...], Box]) -> None:
    """A whole tensor is one plain command; a box of up to two uneven axes is one 2-D command."""
    shape, box = drawn
    (whole,) = transfers(Box.whole(shape), shape, 1)
    assert not whole.is_2d and whole.bytes == np.prod(shape)
    cut = [i for i, (n, d) in enumerate(zip(box.size, shape, strict=True)) if n < d]
    count = len(transfers(box, shape, 1))
    if len(cut) <= 1:
        assert count == 1
    assert count <= np.prod(box.size[:-2], dtype=int)


@given(shapes, st.data())
def test_tiles_cover_every_element_once(shape: tuple[int, ...], data: st.DataObject) -> None:
    size = tuple(data.draw(st.integers(1, n)) for n in shape)
    seen = np.zeros(shape, int)
    for box in tiles(shape, size):
        assert all(n <= s for n, s in zip(box.size, size, strict=True))
        seen[tuple(slice(a, e) for a, e in zip(box.start, box.end, strict=True))] += 1
    assert (seen == 1).all()


@given(st.integers(1, 100), st.integers(1, 120))
def test_only_the_last_piece_is_smaller(extent: int, size: int) -> None:
    pieces = split_axis(extent, size)
    assert [n for _, n in pieces[:-1]] == [size] * (len(pieces) - 1) and 0 < pieces[-1][1] <= size
    assert sum(n for _, n in pieces) == extent


@given(st.integers(1, 5), st.integers(1, 9), st.integers(0, 9), st.integers(0, 3))
def test_rows_find_their_places_at_a_pitch(rows: int, row_bytes: int, gap: int, start: int) -> None:
    pitch = row_bytes + min(gap, row_bytes)
    tensor = np.arange(1, start + rows * row_bytes + 1, dtype=np.uint8)
    local = np.zeros(rows * pitch, np.uint8)
    commands = pitched_transfers(start, rows, row_bytes, pitch)
    for t in commands:
        # Nothing outside the tensor is read.
        assert t.external + (t.bytes // t.line - 1) * t.stride + t.line <= len(tensor)
    move(tensor, local, commands, inward=True)
    expected = tensor[start:].reshape(rows, row_bytes)
    np.testing.assert_array_equal(local.reshape(rows, pitch)[:, :row_bytes], expected)
