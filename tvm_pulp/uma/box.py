"""Boxes: rectangular parts of tensors, and the DMA transfers that move them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

from tvm_pulp.qnn.tiles import Box
from tvm_pulp.quick_records import quick_record

__all__ = ["Box", "Transfer", "pitched_transfers", "shifted", "split_axis", "tiles", "transfers"]


@quick_record()
class Transfer:
    """One DMA command: `bytes` in lines of `line` bytes, `stride` apart on the external side; packed in L1."""

    external: int
    local: int
    bytes: int
    line: int
    stride: int

    @property
    def is_2d(self) -> bool:
        return self.line != self.bytes


def split_axis(extent: int, size: int) -> list[tuple[int, int]]:
    """(start, size) of consecutive pieces; only the last may be smaller."""
    return [(start, min(size, extent - start)) for start in range(0, extent, size)]


def tiles(shape: Sequence[int], size: Sequence[int]) -> Iterator[Box]:
    """Boxes that cover a tensor exactly once, last axis fastest."""
    for parts in product(*(split_axis(e, s) for e, s in zip(shape, size, strict=True))):
        yield Box(tuple(p[0] for p in parts), tuple(p[1] for p in parts))


# Planning asks for the same boxes again and again.
@lru_cache(maxsize=1 << 16)
def transfers(box: Box, shape: tuple[int, ...], itemsize: int) -> tuple[Transfer, ...]:
    """Fewest commands that move a box of a row-major tensor to or from a packed L1 buffer."""
    strides = [itemsize] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    base = sum(s * b for s, b in zip(strides, box.start, strict=True))
    # Grow the contiguous run over full inner axes.
    run, axis = itemsize, len(shape)
    while axis > 0 and (axis == len(shape) or box.size[axis] == shape[axis]):
        axis -= 1
        run *= box.size[axis]
    lines, stride = 1, run
    if axis > 0:
        # The next axis becomes the lines of a 2-D command; axes with one element are free.
        axis -= 1
        while axis > 0 and box.size[axis] == 1:
            axis -= 1
        lines, stride = box.size[axis], strides[axis]
    outer = [range(n) for n in box.size[:axis]] if lines * run < box.elements * itemsize else []
    result, local = [], 0
    for index in product(*outer):
        offset = base + sum(i * s for i, s in zip(index, strides, strict=False))
        if lines == 1 or run == stride:
            result.append(Transfer(offset, local, run * lines, run * lines, run * lines))
        else:
            result.append(Transfer(offset, local, run * lines, run, stride))
        local += run * lines
    return tuple(result)


def shifted(moved: tuple[Transfer, ...], by: int) -> tuple[Transfer, ...]:
    """The same commands for a tensor that begins so many bytes later."""
    return tuple(replace(t, external=t.external + by) for t in moved) if by else moved


def pitched_transfers(external: int, rows: int, row_bytes: int, pitch: int) -> list[Transfer]:
    """Commands that bring adjacent rows to places `pitch` apart in L1.

    The DMA writes L1 without gaps: every row but the last brings along what follows it, which is to be overwritten.
    That stays inside the tensor while the pitch is at most two rows.
    """
    assert row_bytes <= pitch <= 2 * row_bytes
    last = Transfer(external + (rows - 1) * row_bytes, (rows - 1) * pitch, row_bytes, row_bytes, row_bytes)
    if rows == 1:
        return [last]
    size = (rows - 1) * pitch
    if rows == 2:
        return [Transfer(external, 0, size, size, size), last]
    return [Transfer(external, 0, size, pitch, row_bytes), last]
