"""Weights of a quantize/dequantize graph's attention from products, and sums of keys: random shapes, 1 to 8 cores."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.check import TOOLCHAINS, check
from tests.kernels.qdq_weights_cases import qdq_weights_case, row_sums_case

SEEDS = st.integers(0, 1 << 30)
CORES = st.integers(1, 8)
TOOLS = st.sampled_from(TOOLCHAINS)


@settings(max_examples=12)
@given(
    SEEDS, st.integers(1, 4), st.integers(1, 9), st.integers(1, 40), st.sampled_from([1, 1, 3]), st.booleans(),
    st.sampled_from([(255, 255.0), (127, 255.0), (255, 532.8)]), st.integers(1, 9), CORES, TOOLS,
)  # fmt: skip
def test_qdq_weights(seed, heads, queries, keys, classes, shifted, limit, batch, cores, tool):  # type: ignore[no-untyped-def]
    high, gain = limit
    case = qdq_weights_case(
        np.random.default_rng(seed), heads, queries, keys, classes=classes, shifted=shifted, high=high, gain=gain,
        batch=batch,
    )  # fmt: skip
    check(case, cores, tool)


@settings(max_examples=6)
@given(
    SEEDS, st.integers(1, 4), st.integers(1, 20), st.integers(1, 9), st.sampled_from(["int8", "uint8"]), CORES, TOOLS
)
def test_row_sums(seed, matrices, rows, words, dtype, cores, tool):  # type: ignore[no-untyped-def]
    check(row_sums_case(np.random.default_rng(seed), matrices, rows, 4 * words, dtype=dtype), cores, tool)
