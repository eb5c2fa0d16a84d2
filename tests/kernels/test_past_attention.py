"""Attention over a cache and rotary positions: shared heads, empty and full caches, later queries, 1 to 8 cores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.check import TOOLCHAINS, check
from tests.kernels.past_attention_cases import past_attention_case, past_parts_case, rotary_case, value_groups_case

SEEDS = st.integers(0, 1 << 30)
CORES = st.integers(1, 8)
TOOLS = st.sampled_from(TOOLCHAINS)
PARTS = ["past_scores", "past_mix", "past_mix_by_element", "past_mean"]


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 5), st.integers(1, 5), st.sampled_from([2, 4, 8, 32]), CORES, TOOLS)
def test_rotary(seed: int, positions: int, heads: int, size: int, cores: int, tool: str) -> None:
    check(rotary_case(np.random.default_rng(seed), positions, heads, size), cores, tool)


@settings(max_examples=60)
@given(
    SEEDS, st.integers(1, 6), st.integers(0, 4), st.integers(1, 4), st.integers(1, 3),
    st.sampled_from([4, 8, 32, 32, 64]), st.integers(0, 21), st.integers(0, 3), st.booleans(), CORES, TOOLS,
)  # fmt: skip
def test_past_attention(  # type: ignore[no-untyped-def]
    seed, queries, before, kv_heads, group, size, length, free, by_element, cores, tool
):
    rows, cache = (queries, queries + before), (length, max(1, length + free))
    rng = np.random.default_rng(seed)
    check(past_attention_case(rng, rows, kv_heads, group, size, cache, by_element=by_element), cores, tool)


@pytest.mark.parametrize("size", [4, 32])
def test_a_long_cache(size: int) -> None:
    check(past_attention_case(np.random.default_rng(1), (1, 1), 8, 1, size, (255, 256)), 8, TOOLCHAINS[0])


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", PARTS)
@settings(max_examples=40)
@given(
    SEEDS, st.integers(1, 9), st.integers(1, 3), st.sampled_from([4, 8, 12, 32, 32, 64]), st.integers(0, 21),
    st.integers(0, 3), CORES, TOOLS,
)  # fmt: skip
def test_parts_of_one_token(  # type: ignore[no-untyped-def]
    part, seed, kv_heads, group, size, length, free, cores, tool
):
    cache = (length, max(1, length + free))
    check(past_parts_case(np.random.default_rng(seed), part, kv_heads, group, size, cache), cores, tool)


@pytest.mark.parametrize("part", PARTS)
def test_parts_over_a_long_cache(part: str) -> None:
    check(past_parts_case(np.random.default_rng(1), part, 8, 1, 32, (256, 256)), 8, TOOLCHAINS[0])


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 13), st.integers(1, 9), st.integers(0, 9), CORES, TOOLS)
def test_value_groups(seed: int, rows: int, words: int, length: int, cores: int, tool: str) -> None:
    check(value_groups_case(np.random.default_rng(seed), rows, 4 * words, length), cores, tool)
