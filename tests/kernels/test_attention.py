"""Attention and rotary embedding: random shapes, odd numbers of keys, all requantization forms, 1 to 8 cores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.attention_cases import attention_case, rope_case
from tests.kernels.check import TOOLCHAINS, check
from tests.kernels.random_requant import KINDS

SEEDS = st.integers(0, 1 << 30)
CORES = st.integers(1, 8)
TOOLS = st.sampled_from(TOOLCHAINS)
SIZES = st.sampled_from([4, 4, 4, 8, 16, 20, 64])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(
    SEEDS, st.integers(1, 5), st.integers(1, 6), st.integers(1, 21), SIZES,
    st.sampled_from(["pulp", "pulp", "pulp", "pulp_wide", "tflite"]), st.booleans(), st.booleans(), st.booleans(),
    st.booleans(), st.booleans(), st.integers(1, 17), st.integers(0, 3), CORES, TOOLS,
)  # fmt: skip
def test_attention(  # type: ignore[no-untyped-def]
    kind, seed, heads, queries, keys, size, logit_kind, mask, table, probability, lifting, outer, batch, misalign,
    cores, tool,
):  # fmt: skip
    case = attention_case(
        np.random.default_rng(seed), heads, queries, keys, size, kinds=(logit_kind, kind), with_mask=mask,
        with_table=table, with_probability=probability, lifting_mask=lifting, heads_outer=outer,
        batch=batch, misalign=misalign,
    )  # fmt: skip
    check(case, cores, tool)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(SEEDS, st.integers(1, 6), st.integers(1, 9), st.sampled_from([4, 4, 8]), st.integers(0, 3), CORES, TOOLS)
def test_rope(kind, seed, positions, heads, size, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(rope_case(np.random.default_rng(seed), positions, heads, size, kind, misalign=misalign), cores, tool)
