"""Calls of the kernels that lay pictures out as planes of blocks, with results made by NumPy."""

import numpy as np

from tests.kernels.call import Call, Out
from tests.kernels.matrix_cases import Case, random_bytes


def to_blocks_case(
    rng: np.random.Generator, size: tuple[int, int, int], grid: tuple[int, int], rows: int, corner: tuple[int, int], *,
    misalign: int = 0,
) -> Case:  # fmt: skip
    """`size`: height, width and channels; `corner`: where the picture begins in the grid of blocks of `rows` x 4."""
    (height, width, channels), (top, left) = size, corner
    x, value = random_bytes(rng, size, "uint8"), int(rng.integers(256))
    lines, columns = grid[0] * rows, grid[1] * 4
    picture = np.full((lines, columns, channels), value, np.uint8)
    seen = x[: max(0, lines - top), : max(0, columns - left)]
    picture[top : top + len(seen), left : left + seen.shape[1]] = seen
    blocks = picture.reshape(grid[0], rows, grid[1], 4, channels).transpose(4, 0, 2, 1, 3).reshape(channels, -1)
    out = Out((channels, blocks.shape[1] + 4), "uint8")
    expected = out.empty()
    expected[:, : blocks.shape[1]] = blocks
    fields = {
        "x": x, "y": out, "height": height, "width": width, "channels": channels, "grid_height": grid[0],
        "grid_width": grid[1], "block_height": rows, "plane_stride": expected.shape[1], "top": top, "left": left,
        "pad_value": value,
    }  # fmt: skip
    return Case(Call("to_blocks", fields, misalign={"x": misalign}), expected, blocks.size)


def from_blocks_case(rng: np.random.Generator, size: tuple[int, int, int], block: tuple[int, int], dtype: str) -> Case:
    """`size`: height, width and channels of the result."""
    height, width, channels = size
    grid = -(-height // block[0]), -(-width // block[1])
    plane = grid[0] * grid[1] * block[0] * block[1]
    x = rng.integers(-100, 100, (channels, plane + 1)).astype(dtype)
    picture = x[:, :plane].reshape(channels, *grid, *block).transpose(1, 3, 2, 4, 0)
    picture = picture.reshape(grid[0] * block[0], grid[1] * block[1], channels)
    expected = np.ascontiguousarray(picture[:height, :width])
    fields = {
        "x": x, "y": Out(expected.shape, dtype), "height": height, "width": width, "channels": channels,
        "grid_width": grid[1], "block_height": block[0], "block_width": block[1], "plane_stride": x.strides[0],
        "element_bytes": x.itemsize,
    }  # fmt: skip
    return Case(Call("from_blocks", fields), expected, expected.size)
