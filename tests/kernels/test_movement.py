"""Pooling, im2col, transposes and row copies: random shapes, odd sizes, 1 to 8 cores, both compilers."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernels.check import TOOLCHAINS, check
from tests.kernels.matrix_cases import Window
from tests.kernels.movement_cases import (
    bit_planes_case,
    copy_rows_case,
    im2col_case,
    join_planes_case,
    mean_pool_case,
    pad_case,
    pool_case,
    resize_case,
    space_to_depth_case,
    transpose_case,
)

SEEDS = st.integers(0, 1 << 30)
CORES = st.integers(1, 8)
BYTES = st.sampled_from(["int8", "uint8"])
TOOLS = st.sampled_from(TOOLCHAINS)
EXAMPLES = settings(max_examples=30)
MISALIGN = st.integers(0, 3)
KERNELS = st.tuples(st.integers(1, 4), st.integers(1, 4))
IMAGES = st.tuples(st.integers(4, 9), st.integers(4, 9), st.integers(1, 40))


@EXAMPLES
@given(
    SEEDS, IMAGES, KERNELS, st.tuples(st.integers(1, 3), st.integers(1, 3)), st.tuples(*[st.integers(0, 3)] * 4),
    st.booleans(), BYTES, MISALIGN, CORES, TOOLS,
)  # fmt: skip
def test_pool(seed, size, kernel, strides, pads, average, dtype, misalign, cores, tool):  # type: ignore[no-untyped-def]
    # Every window holds at least one pixel: an average over none has no meaning.
    window = Window(kernel, strides, (1, 1), tuple(min(p, min(kernel) - 1) for p in pads))  # type: ignore[arg-type]
    assume(min(window.output(*size[:2])) >= 1)
    case = pool_case(np.random.default_rng(seed), size, window, average=average, dtype=dtype, misalign=misalign)
    check(case, cores, tool)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["half_up", "half_even", "pulp", "tflite"])
@settings(max_examples=12)
@given(
    SEEDS, IMAGES, KERNELS, st.tuples(st.integers(1, 3), st.integers(1, 3)), st.tuples(*[st.integers(0, 3)] * 4),
    BYTES, MISALIGN, st.booleans(), CORES, TOOLS,
)  # fmt: skip
def test_mean_pool(kind, seed, size, kernel, strides, pads, dtype, misalign, by_count, cores, tool):  # type: ignore[no-untyped-def]
    window = Window(kernel, strides, (1, 1), tuple(min(p, min(kernel) - 1) for p in pads))  # type: ignore[arg-type]
    assume(min(window.output(*size[:2])) >= 1)
    how = {"dtype": dtype, "misalign": misalign, "by_count": by_count}
    check(mean_pool_case(np.random.default_rng(seed), size, window, kind, **how), cores, tool)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(
    SEEDS, IMAGES, KERNELS, st.tuples(st.integers(1, 3), st.integers(1, 3)), st.tuples(*[st.integers(0, 3)] * 4),
    st.sampled_from([1, 1, 2]), MISALIGN, CORES, TOOLS,
)  # fmt: skip
def test_im2col(seed, size, kernel, strides, pads, dilation, misalign, cores, tool):  # type: ignore[no-untyped-def]
    window = Window(kernel, strides, (dilation, dilation), pads)
    assume(min(window.output(*size[:2])) >= 1)
    check(im2col_case(np.random.default_rng(seed), size, window, misalign=misalign), cores, tool)


@settings(max_examples=20)
@given(
    SEEDS, st.sampled_from([1, 2, 4]), st.tuples(st.integers(2, 12), st.integers(4, 9), st.integers(1, 10)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)), st.tuples(*[st.integers(0, 5)] * 4), MISALIGN, CORES, TOOLS,
)  # fmt: skip
def test_im2col_of_words(seed, channels, size, strides, pads, misalign, cores, tool):  # type: ignore[no-untyped-def]
    """Kernel rows of four bytes, taller than the image at times, with borders wider than a row."""
    height, width, kernel_height = size
    window = Window((kernel_height, 4 // channels), strides, (1, 1), pads)
    assume(min(window.output(height, width)) >= 1)
    check(im2col_case(np.random.default_rng(seed), (height, width, channels), window, misalign=misalign), cores, tool)


@EXAMPLES
@given(SEEDS, IMAGES, st.tuples(*[st.integers(0, 5)] * 4), MISALIGN, CORES, TOOLS)
def test_pad(seed, size, pads, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(pad_case(np.random.default_rng(seed), size, pads, misalign=misalign), cores, tool)


@settings(max_examples=40)
@given(
    SEEDS, st.tuples(st.integers(1, 5), st.integers(1, 11), st.sampled_from([1, 2, 3, 3, 4])), st.booleans(),
    st.booleans(), CORES, TOOLS,
)  # fmt: skip
def test_space_to_depth(seed, half, planar, unsigned, cores, tool):  # type: ignore[no-untyped-def]
    size = (2 * half[0], 2 * half[1], half[2])
    check(space_to_depth_case(np.random.default_rng(seed), size, planar=planar, unsigned=unsigned), cores, tool)


@EXAMPLES
@given(
    SEEDS, st.tuples(*[st.integers(1, 9)] * 4), st.permutations(range(4)), st.sampled_from(["int8", "int32"]),
    MISALIGN, CORES, TOOLS,
)  # fmt: skip
def test_transpose(seed, shape, axes, dtype, misalign, cores, tool):  # type: ignore[no-untyped-def]
    case = transpose_case(np.random.default_rng(seed), shape, tuple(axes), dtype=dtype, misalign=misalign)
    check(case, cores, tool)


@settings(max_examples=12)
@given(SEEDS, st.integers(1, 150), MISALIGN, CORES, TOOLS)
def test_join_planes(seed, pixels, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(join_planes_case(np.random.default_rng(seed), pixels, misalign=misalign), cores, tool)


@pytest.mark.parametrize("with_table", [False, True])
@EXAMPLES
@given(SEEDS, st.integers(1, 9), st.integers(1, 60), st.integers(0, 9), MISALIGN, CORES, TOOLS)
def test_copy_rows(with_table, seed, rows, row_bytes, gap, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(copy_rows_case(rng, rows, row_bytes, gap, misalign=misalign, with_table=with_table), cores, tool)


@EXAMPLES
@given(SEEDS, st.integers(60, 140), st.integers(60, 90), st.integers(0, 9), MISALIGN, CORES, TOOLS)
def test_copy_many_rows_with_a_table(seed, rows, row_bytes, gap, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(copy_rows_case(rng, rows, row_bytes, gap, misalign=misalign, with_table=True), cores, tool)


@pytest.mark.sample(2)
@pytest.mark.parametrize("form", ["copy", "near", "scaled", "wide", "cubic"])
@EXAMPLES
@given(
    SEEDS, st.tuples(st.integers(1, 7), st.integers(1, 7), st.sampled_from([1, 3, 4, 8, 12, 20])),
    st.tuples(st.integers(1, 12), st.integers(1, 12)), BYTES, BYTES, MISALIGN, CORES, TOOLS,
)  # fmt: skip
def test_resize(form, seed, size, result, dtype, out, misalign, cores, tool):  # type: ignore[no-untyped-def]
    how = {"dtype": dtype, "out": dtype if seed % 2 else out, "misalign": misalign, "alike": bool(seed % 2)}
    check(resize_case(np.random.default_rng(seed), size, result, form, **how), cores, tool)


@settings(max_examples=40)
@given(
    SEEDS, st.integers(1, 4), st.integers(1, 20), st.integers(1, 20), st.integers(1, 70), st.booleans(), CORES, TOOLS
)
def test_bit_planes(seed, matrices, rows, words, depth, turned, cores, tool):  # type: ignore[no-untyped-def]
    """The cores pack weights as the compiler packs those that are constant."""
    rows, depth = (4 * rows, depth) if turned else (rows, 4 * words)
    check(bit_planes_case(np.random.default_rng(seed), matrices, rows, depth, turned=turned), cores, tool)
