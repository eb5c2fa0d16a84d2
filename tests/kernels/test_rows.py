"""Softmax forms and normalizations: random shapes, odd sizes, 1 to 8 cores, both compilers."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.kernels.check import TOOLCHAINS, check
from tests.kernels.row_cases import (
    group_norm_case,
    i_softmax_case,
    layer_norm_case,
    qdq_norm_case,
    rms_norm_case,
    softmax_ita_case,
    softmax_table_case,
    softmax_tflite_case,
    uniform_norm_case,
)

SEEDS = st.integers(0, 1 << 30)
CORES = st.integers(1, 8)
BYTES = st.sampled_from(["int8", "uint8"])
ROWS, COLUMNS, MISALIGN = st.integers(1, 11), st.integers(1, 90), st.integers(0, 3)
TOOLS = st.sampled_from(TOOLCHAINS)
EXAMPLES = settings(max_examples=40)
FEW = settings(max_examples=15)


@EXAMPLES
@given(SEEDS, ROWS, COLUMNS, BYTES, st.sampled_from([256, 128, 16]), MISALIGN, CORES, TOOLS)
def test_i_softmax(seed, rows, columns, dtype, levels, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(i_softmax_case(rng, rows, columns, dtype=dtype, levels=levels, misalign=misalign), cores, tool)


@FEW
@given(SEEDS, ROWS, COLUMNS, BYTES, CORES, TOOLS)
def test_softmax_ita_over_the_whole_row(seed, rows, columns, dtype, cores, tool):  # type: ignore[no-untyped-def]
    check(softmax_ita_case(np.random.default_rng(seed), rows, columns, dtype=dtype), cores, tool)


@FEW
@given(SEEDS, ROWS, COLUMNS, st.sampled_from([16, 5]), CORES, TOOLS)
def test_softmax_ita_in_groups(seed, rows, columns, group, cores, tool):  # type: ignore[no-untyped-def]
    check(softmax_ita_case(np.random.default_rng(seed), rows, columns, group=group), cores, tool)


@FEW
@given(SEEDS, ROWS, st.integers(1, 40), st.sampled_from(["int8", "uint8"]), st.integers(0, 3), CORES, TOOLS)
def test_softmax_table(seed, rows, columns, dtype, misalign, cores, tool):  # type: ignore[no-untyped-def]
    case = softmax_table_case(np.random.default_rng(seed), rows, columns, dtype=dtype, misalign=misalign)
    check(case, cores, tool)


@FEW
@given(SEEDS, ROWS, st.integers(1, 40), CORES, TOOLS)
def test_softmax_tflite(seed, rows, columns, cores, tool):  # type: ignore[no-untyped-def]
    check(softmax_tflite_case(np.random.default_rng(seed), rows, columns), cores, tool)


@EXAMPLES
@given(SEEDS, ROWS, COLUMNS, BYTES, st.sampled_from([256, 16, 1024]), st.integers(0, 3), MISALIGN, CORES, TOOLS)
def test_rms_norm(seed, rows, columns, dtype, levels, width, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    case = rms_norm_case(rng, rows, columns, dtype=dtype, levels=levels, wide=width == 0, misalign=misalign)
    check(case, cores, tool)


@FEW
@given(SEEDS, ROWS, COLUMNS, BYTES, st.sampled_from([256, 16]), MISALIGN, CORES, TOOLS)
def test_uniform_norm(seed, rows, columns, dtype, levels, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(uniform_norm_case(rng, rows, columns, dtype=dtype, levels=levels, misalign=misalign), cores, tool)


@EXAMPLES
@given(SEEDS, ROWS, COLUMNS, BYTES, st.sampled_from([256, 16, 1024]), st.integers(0, 3), MISALIGN, CORES, TOOLS)
def test_layer_norm(seed, rows, columns, dtype, levels, width, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    case = layer_norm_case(rng, rows, columns, dtype=dtype, levels=levels, wide=width == 0, misalign=misalign)
    check(case, cores, tool)


@EXAMPLES
@given(
    SEEDS,
    st.integers(1, 21),
    st.integers(1, 40),
    BYTES,
    st.sampled_from([256, 16]),
    MISALIGN,
    CORES,
    TOOLS,
    st.booleans(),
)
def test_integer_norms_by_single_precision(seed, rows, fours, dtype, levels, misalign, cores, tool, centred):  # type: ignore[no-untyped-def]
    """Results near the next integer are made by division; zero weights and biases have all of them there."""
    rng = np.random.default_rng(seed)
    make = layer_norm_case if centred else rms_norm_case
    check(make(rng, rows, 4 * fours, dtype=dtype, levels=levels, misalign=misalign, reals=True), cores, tool)


NORM_FORMS = st.sampled_from(["layer", "rms", "layer_quantized", "rms_quantized", "plain"])


@FEW
@given(
    SEEDS, st.integers(1, 9), st.integers(1, 5), st.integers(1, 30), st.sampled_from(["int8", "uint8"]),
    st.integers(0, 3), CORES, TOOLS,
)  # fmt: skip
def test_group_norm(seed, groups, channels, pixels, dtype, misalign, cores, tool):  # type: ignore[no-untyped-def]
    case = group_norm_case(np.random.default_rng(seed), groups, channels, pixels, dtype=dtype, misalign=misalign)
    check(case, cores, tool)


@EXAMPLES
@example(1, 5, 1, "uint8", "layer", 0, 4, "zig")  # fewer whole eights than cores, the last one short
@example(1, 9, 6, "int8", "rms", 0, 8, "zig")
@given(SEEDS, ROWS, st.integers(1, 300), BYTES, NORM_FORMS, MISALIGN, CORES, TOOLS)
def test_qdq_norm(seed, rows, columns, dtype, form, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(qdq_norm_case(rng, rows, columns, dtype=dtype, form=form, misalign=misalign), cores, tool)
