"""Random sizes of kernels that move values and of pools, for fits of their cycles."""

from tests.kernels.block_cases import from_blocks_case, to_blocks_case
from tests.kernels.matrix_cases import Case, Window
from tests.kernels.matrix_shapes import Shapes
from tests.kernels.movement_cases import (
    bit_planes_case,
    copy_rows_case,
    im2col_case,
    join_planes_case,
    mean_pool_case,
    pool_case,
    resize_case,
    space_to_depth_case,
    transpose_case,
)


def pool(s: Shapes, *, average: bool) -> Case:
    height, width, channels = s.size(6, 20), s.size(6, 20), s.pick(s.size(4, 64), s.size(16, 64, 16))
    inside = (Window(kernel, strides, pads=(0,) * 4) for kernel, strides in (((2, 2), (2, 2)), ((6, 6), (6, 6))))
    window = s.pick(*inside, Window(), Window((3, 3), (2, 2), pads=(0, 0, 0, 0)))
    return pool_case(s.rng, (height, width, channels), window, average=average)


def mean_pool(s: Shapes) -> Case:
    height, width, channels = s.size(3, 12), s.size(3, 12), s.size(4, 256, s.pick(1, 4))
    window = s.pick(Window((height, width), pads=(0, 0, 0, 0)), Window((2, 2), (2, 2), pads=(0, 0, 0, 0)))
    return mean_pool_case(s.rng, (height, width, channels), window, s.pick("half_up", "half_even", "pulp"))


def transpose(s: Shapes) -> Case:
    shape = (s.size(1, 4), s.size(1, 16), s.size(2, 32), s.size(2, 64))
    axes, dtype = s.pick((0, 1, 3, 2), (0, 2, 1, 3), (2, 0, 3, 1)), s.pick("int8", "int8", "int32")
    return transpose_case(s.rng, shape, axes, dtype=dtype)


def join_planes(s: Shapes) -> Case:
    return join_planes_case(s.rng, s.size(64, 4096, 4))


def bit_planes(s: Shapes) -> Case:
    turned, sizes = s.flag(), (s.size(4, 96, 4), s.size(4, 96, s.pick(1, 4, 4)))
    return bit_planes_case(s.rng, s.size(1, 8), *(sizes if turned else sizes[::-1]), turned=turned)


def copy_rows(s: Shapes) -> Case:
    # Many short rows with a table are what a concatenation of images is.
    rows, with_table = s.pick(
        (s.size(1, 64), True), (s.size(1, 64), False), (s.size(1, 64), False), (s.size(64, 512), True)
    )
    return copy_rows_case(s.rng, rows, s.size(4, 256), s.pick(0, 4), with_table=with_table)


def im2col(s: Shapes) -> Case:
    dilated = s.pick(Window((1, 3), dilation=(1, 2), pads=(0, 4, 0, 0)), Window((3, 3), dilation=(2, 2), pads=(2,) * 4))
    strided = s.pick(Window((3, 3), (2, 2)), Window((4, 10), (2, 2), pads=(1, 4, 1, 5)))
    size = (s.size(5, 24), s.size(10, 24), s.pick(s.size(1, 32), s.size(4, 32, 4)))
    if s.rng.random() < 0.3:
        # Stems: windows of few channels in wide images.
        size = (s.size(5, 40), s.size(16, 128), s.pick(2, 3, 4, 4, 5))
        return im2col_case(s.rng, size, s.pick(Window(), Window((3, 3), (2, 2))))
    # Whole padded lines: how a border is laid around an image.
    window = s.pick(Window(), strided, Window((5, 3)), dilated, Window((1, size[1] + 2)), Window((0, 4)))
    if window.kernel == (0, 4):  # one word of a single channel
        size = (s.size(20, 50), s.size(10, 24), 1)
        window = Window((s.size(2, 10), 4), s.pick((1, 1), (2, 2)), pads=(1, 1, 2, 1))
    return im2col_case(s.rng, size, window)


def space_to_depth(s: Shapes) -> Case:
    size = (2 * s.size(2, 24), 2 * s.size(2, 24), s.pick(3, 3, s.size(1, 8)))
    return space_to_depth_case(s.rng, size, planar=s.flag(), unsigned=s.flag())


def to_blocks(s: Shapes) -> Case:
    size, rows = (s.size(4, 20), s.size(4, 20), s.pick(3, *[s.size(4, 40)] * 5)), s.pick(1, 2, 4, 4)
    grid = -(-size[0] // rows) + 2, -(-size[1] // 4) + 2
    return to_blocks_case(s.rng, size, grid, rows, (rows, s.pick(4, 4, 1)))


def from_blocks(s: Shapes) -> Case:
    size, block = (s.size(2, 16), s.size(2, 16), s.size(4, 40)), s.pick((4, 4), (4, 4), (2, 4), (2, 2))
    return from_blocks_case(s.rng, size, block, s.pick("int32", "int32", "int8"))


def resize(s: Shapes) -> Case:
    form, size = s.pick("copy", "near", "near", "scaled", "wide"), (s.size(3, 12), s.size(3, 12), 4 * s.size(1, 16))
    return resize_case(s.rng, size, (2 * size[0], 2 * size[1]), form, alike=True)
