"""Pictures as planes of blocks and back: every byte where NumPy puts it, whatever the sizes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.block_cases import from_blocks_case, to_blocks_case
from tests.kernels.check import TOOLCHAINS, check

SEEDS, CORES, MISALIGN = st.integers(0, 1 << 30), st.integers(1, 8), st.integers(0, 3)
TOOLS, EXAMPLES = st.sampled_from(TOOLCHAINS), settings(max_examples=20)
IMAGES = st.tuples(st.integers(1, 11), st.integers(1, 11), st.integers(1, 11))


@EXAMPLES
@given(
    SEEDS, IMAGES, st.tuples(st.integers(1, 4), st.integers(1, 4)), st.sampled_from([1, 2, 4]),
    st.tuples(st.integers(0, 4), st.integers(0, 4)), MISALIGN, CORES, TOOLS,
)  # fmt: skip
def test_to_blocks(seed, size, grid, rows, corner, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(to_blocks_case(np.random.default_rng(seed), size, grid, rows, corner, misalign=misalign), cores, tool)


@EXAMPLES
@given(
    SEEDS, IMAGES, st.sampled_from([(1, 4), (2, 4), (4, 4), (2, 2), (1, 1)]), st.sampled_from(["int8", "int32"]),
    CORES, TOOLS,
)  # fmt: skip
def test_from_blocks(seed, size, block, dtype, cores, tool):  # type: ignore[no-untyped-def]
    check(from_blocks_case(np.random.default_rng(seed), size, block, dtype), cores, tool)
