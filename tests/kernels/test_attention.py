"""Attention and rotary embedding: random shapes, odd numbers of keys, all requantization forms, 1 to 8 cores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.attention_cases import (
    attention_case,
    attention_weights_case,
    past_qdq_attention_case,
    qdq_attention_case,
    qdq_rope_case,
    rope_case,
)
from tests.kernels.call import Call, run_on_cluster
from tests.kernels.check import TOOLCHAINS, check
from tests.kernels.random_requant import KINDS
from tvm_pulp.qnn.softmax_i_tables import small_exponential_table

SEEDS = st.integers(0, 1 << 30)
CORES = st.integers(1, 8)
TOOLS = st.sampled_from(TOOLCHAINS)
SIZES = st.sampled_from([4, 4, 4, 8, 16, 20, 64])


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(
    SEEDS, st.integers(1, 5), st.integers(1, 6), st.integers(1, 21), SIZES,
    st.sampled_from(["pulp", "pulp", "pulp", "pulp_wide", "tflite"]), st.booleans(), st.booleans(), st.booleans(),
    st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.integers(1, 17), st.integers(0, 3), CORES, TOOLS,
)  # fmt: skip
def test_attention(  # type: ignore[no-untyped-def]
    kind, seed, heads, queries, keys, size, logit_kind, mask, table, probability, lifting, outer, small, covered, batch,
    misalign, cores, tool,
):  # fmt: skip
    case = attention_case(
        np.random.default_rng(seed), heads, queries, keys, size, kinds=(logit_kind, kind), with_mask=mask,
        with_table=table, with_probability=probability, lifting_mask=lifting, heads_outer=outer,
        batch=batch, misalign=misalign, small=small, covered=covered,
    )  # fmt: skip
    check(case, cores, tool)


@settings(max_examples=40)
@given(
    SEEDS, st.integers(1, 4), st.integers(3, 12), st.integers(4, 40), st.booleans(), st.booleans(), st.integers(1, 17),
    CORES, TOOLS,
)  # fmt: skip
def test_attention_skips_hidden_keys(seed, heads, queries, keys, table, probability, batch, cores, tool):  # type: ignore[no-untyped-def]
    """With exponentials that vanish, causal masks hide keys for good; results stay the same."""
    case = attention_case(
        np.random.default_rng(seed), heads, queries, keys, 4, with_table=table, with_probability=probability,
        causal_mask=True, batch=batch,
    )  # fmt: skip
    check(case, cores, tool)


@settings(max_examples=60)
@given(
    SEEDS, st.integers(1, 12), st.integers(1, 40), st.booleans(), st.booleans(), st.booleans(), st.booleans(),
    st.integers(1, 9), CORES, TOOLS, st.integers(1, 3), st.sampled_from([1, 2, 2, 4, 8]), st.booleans(),
)  # fmt: skip
def test_attention_weights(  # type: ignore[no-untyped-def]
    seed, rows, keys, mask, table, probability, small, batch, cores, tool, heads, step, causal
):
    case = attention_weights_case(
        np.random.default_rng(seed), rows, keys, with_mask=mask, with_table=table, with_probability=probability,
        small=small, batch=batch, heads=heads, step=step, causal_mask=causal,
    )  # fmt: skip
    check(case, cores, tool)


def test_skipping_hidden_keys_saves_time() -> None:
    """Half of the keys are hidden: logits and exponentials of them cost a fifth of the time."""
    case = attention_case(np.random.default_rng(4), 8, 32, 64, 4, causal_mask=True, with_probability=True)
    assert case.call.arguments["skips_from"] < 200
    never = Call("attention", {**case.call.arguments, "skips_from": 256})
    fast, slow = run_on_cluster(case.call), run_on_cluster(never)
    np.testing.assert_array_equal(fast.output, case.expected)
    np.testing.assert_array_equal(slow.output, case.expected)
    assert fast.cycles < 0.8 * slow.cycles


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(SEEDS, st.integers(1, 6), st.integers(1, 9), st.sampled_from([4, 4, 8]), st.integers(0, 3), CORES, TOOLS)
def test_rope(kind, seed, positions, heads, size, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(rope_case(np.random.default_rng(seed), positions, heads, size, kind, misalign=misalign), cores, tool)


@pytest.mark.parametrize("keys", [4, 64, 65, 128])
def test_weights_by_two_short_products_are_exact(keys: int) -> None:
    """The kernel's quotient of every possible exponential by sums of all sizes is the true one."""
    rng = np.random.default_rng(keys)
    for largest in (1, 38, 1113, 10995, 32767, 32768, 65535):
        table = np.append(1 + 255 * rng.integers(0, largest + 1, 255), 1 + 255 * largest)
        small = small_exponential_table(table, 256, keys)
        if small is None:
            assert keys * largest >= 1 << 22
            continue
        shift, e = 16 - largest.bit_length(), np.arange(largest + 1, dtype=np.int64) << 16 - largest.bit_length()
        sums = np.unique(np.concatenate([[largest, keys * largest], rng.integers(largest, keys * largest + 1, 40)]))
        for total in (int(s) << shift for s in sums):
            factor = (255 << 39) // total + 1
            assert factor < 1 << 32
            low, high = factor & 0xFFFF, factor >> 16
            weights = ((e * low >> 16) + e * high) >> 23
            np.testing.assert_array_equal(weights, 255 * e // total)


@settings(max_examples=40)
@given(
    SEEDS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 6), st.integers(1, 21),
    st.sampled_from([3, 4, 8, 16, 36]), st.sampled_from(["sss", "uuu", "sus", "ssu"]), st.sampled_from([1, 2, 5]),
    st.booleans(), st.booleans(), st.sampled_from(["", "", "q", "k", "qk"]), CORES, TOOLS,
)  # fmt: skip
def test_qdq_attention(  # type: ignore[no-untyped-def]
    seed, groups, group, queries, keys, size, types, classes, by_head, zero, tables, cores, tool
):
    case = qdq_attention_case(
        np.random.default_rng(seed), groups * group, queries, keys, size, group=group, types=types, classes=classes,
        by_head=by_head, zero=zero, tables=tables,
    )  # fmt: skip
    check(case, cores, tool)


@settings(max_examples=40)
@given(
    SEEDS, st.integers(1, 3), st.integers(1, 3), st.integers(0, 17), st.integers(0, 9), st.integers(1, 6),
    st.sampled_from([3, 4, 8, 16]), st.sampled_from(["sss", "uuu", "suu"]), st.sampled_from([1, 2]),
    st.sampled_from(["", "", "k", "qk"]), CORES, TOOLS,
)  # fmt: skip
def test_past_qdq_attention(  # type: ignore[no-untyped-def]
    seed, kv_heads, group, length, free, new, size, types, classes, tables, cores, tool
):
    forms = {"types": types, "classes": classes, "tables": tables}
    rows = (length, length + free, new)
    check(past_qdq_attention_case(np.random.default_rng(seed), kv_heads, group, rows, size, **forms), cores, tool)


@settings(max_examples=25)
@given(
    SEEDS, st.integers(1, 7), st.integers(1, 5), st.sampled_from([2, 6, 16]), st.sampled_from(["int8", "uint8"]),
    st.sampled_from([1, 2]), CORES, TOOLS,
)  # fmt: skip
def test_qdq_rope(seed, outer, inner, size, dtype, axis, cores, tool):  # type: ignore[no-untyped-def]
    check(qdq_rope_case(np.random.default_rng(seed), outer, inner, size, dtype=dtype, axis=axis), cores, tool)
