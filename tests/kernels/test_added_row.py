"""Two roundings with a constant row between them, and a table or a sum in the same pass."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.added_row_cases import requantize_add_sum_case, requantize_add_table_case
from tests.kernels.check import TOOLCHAINS, check

SIZES = (
    st.integers(0, 1 << 30),
    st.integers(1, 20),
    st.integers(1, 20),
    st.integers(1, 8),
    st.sampled_from(TOOLCHAINS),
)


@settings(max_examples=20)
@given(*SIZES)
def test_requantize_add_table(seed, rows, fours, cores, tool):  # type: ignore[no-untyped-def]
    check(requantize_add_table_case(np.random.default_rng(seed), rows, 4 * fours), cores, tool)


@settings(max_examples=20)
@given(*SIZES, st.sampled_from(["int8", "uint8"]))
def test_requantize_add_sum(seed, rows, fours, cores, tool, dtype):  # type: ignore[no-untyped-def]
    check(requantize_add_sum_case(np.random.default_rng(seed), rows, 4 * fours, dtype), cores, tool)
