"""Element-wise kernels: random shapes, odd sizes, all requantization forms, 1 to 8 cores, both compilers."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels import random_requant
from tests.kernels.check import TOOLCHAINS, check
from tests.kernels.elementwise_cases import (
    add_accumulators_case,
    add_case,
    add_in_range_case,
    dequantize_case,
    gate_case,
    gelu_case,
    hardswish_case,
    linear_sum_case,
    lookup_case,
    lookup_pairs_case,
    mul_case,
    qdq_mul_case,
    quantize_case,
    requantize_add_case,
    requantize_case,
    requantize_sum_case,
    requantize_table_case,
    thinned_case,
)
from tests.kernels.random_requant import KINDS, Rule
from tvm_pulp.qnn.elementwise import Mul
from tvm_pulp.qnn.record import PairAttributes
from tvm_pulp.qnn.requant import Requant

SEEDS = st.integers(0, 1 << 30)
CORES = st.integers(1, 8)
BYTES = st.sampled_from(["int8", "uint8"])
TYPES = st.tuples(BYTES, BYTES)
ROWS, COLUMNS, MISALIGN = st.integers(1, 7), st.integers(1, 70), st.integers(0, 3)
TOOLS = st.sampled_from(TOOLCHAINS)
EXAMPLES = settings(max_examples=10)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["inner", "plain", "tflite"])
@EXAMPLES
@given(SEEDS, ROWS, COLUMNS, TYPES, st.booleans(), st.booleans(), MISALIGN, CORES, TOOLS)
def test_add(form, kind, seed, rows, columns, types, broadcast, per_channel, misalign, cores, tool):  # type: ignore[no-untyped-def]
    if form == "plain" and seed % 3 == 0:
        types = ("int32", types[1])
    case = add_case(
        np.random.default_rng(seed), rows, columns, kind, form=form, types=types, broadcast=broadcast,
        per_channel=per_channel, misalign=misalign,
    )  # fmt: skip
    check(case, cores, tool)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["pulp", "pulp_wide", "tflite", "half_even"])
@pytest.mark.parametrize("form", ["inner", "one", "plain"])
@EXAMPLES
@given(SEEDS, ROWS, COLUMNS, TYPES, st.booleans(), MISALIGN, CORES, TOOLS)
def test_add_by_table(form, kind, seed, rows, columns, types, broadcast, misalign, cores, tool):  # type: ignore[no-untyped-def]
    case = add_case(
        np.random.default_rng(seed), rows, columns, kind, form=form, types=types, broadcast=broadcast,
        misalign=misalign, by_table=True,
    )  # fmt: skip
    check(case, cores, tool)


@settings(max_examples=30)
@given(SEEDS, ROWS, COLUMNS, TYPES, MISALIGN, CORES, TOOLS)
def test_linear_sum(seed, rows, columns, types, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(linear_sum_case(np.random.default_rng(seed), rows, columns, types, misalign=misalign), cores, tool)


@EXAMPLES
@given(SEEDS, ROWS, COLUMNS, TYPES, st.booleans(), MISALIGN, CORES, TOOLS)
def test_add_in_range(seed, rows, columns, types, broadcast, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(add_in_range_case(rng, rows, columns, types, broadcast=broadcast, misalign=misalign), cores, tool)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(SEEDS, ROWS, COLUMNS, TYPES, st.booleans(), st.booleans(), MISALIGN, CORES, TOOLS)
def test_mul(kind, seed, rows, columns, types, broadcast, per_channel, misalign, cores, tool):  # type: ignore[no-untyped-def]
    zeros = (seed % 9 - 4, seed % 7 - 3) if seed % 2 else (0, 0)
    case = mul_case(
        np.random.default_rng(seed), rows, columns, kind, types=types, zero_points=zeros, broadcast=broadcast,
        per_channel=per_channel, misalign=misalign,
    )  # fmt: skip
    check(case, cores, tool)


@pytest.mark.parametrize("mul", [1271, 32767, -32768, 32768])
@pytest.mark.parametrize("add", [1 << 15, 0])
def test_mul_of_many_by_halves(mul: int, add: int) -> None:
    """Products of 16 bits and a multiplier of 16 bits, rounded half up, have a loop of their own: and only those."""
    rule = Rule(Requant("pulp", 16, 0, -128, 127, wide=False), (np.array([mul], np.int32), np.array([add], np.int32)))
    case = mul_case(np.random.default_rng(abs(mul) + add), 2, 1035, rule=rule)
    for name in "ab":
        case.call.arguments[name][:, :3] = -128
    expected = Mul().reference(
        PairAttributes(requant=rule.requant),
        [case.call.arguments["a"], case.call.arguments["b"], *rule.operands],
    )
    check(replace(case, expected=expected), 3, "zig")


@pytest.mark.parametrize(("count", "misalign"), [(1500, 0), (2101, 0), (2101, 1)])
def test_lookup_of_much(count: int, misalign: int) -> None:
    """Cores with much to look up have a table of their own."""
    check(lookup_case(np.random.default_rng(count), count, misalign=misalign), 3, "zig")


@pytest.mark.parametrize(("columns", "per_channel", "cores"), [(13, True, 3), (2, True, 3), (8, False, 1)])
def test_requantize_of_products_with_an_offset(columns: int, per_channel: bool, cores: int) -> None:
    rng = np.random.default_rng(columns)
    check(requantize_case(rng, 7, columns, "offset_half_even", dtype="int32", per_channel=per_channel), cores, "zig")


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", [*KINDS, "shift", "shift_even", "shift_away"])
@EXAMPLES
@given(
    SEEDS, ROWS, COLUMNS, st.sampled_from(["int8", "uint8", "int32"]), st.sampled_from([0, 0, 7, -3]),
    st.integers(0, 1), st.booleans(), MISALIGN, CORES, TOOLS,
)  # fmt: skip
def test_requantize(kind, seed, rows, columns, dtype, zero_point, axis, per_channel, misalign, cores, tool):  # type: ignore[no-untyped-def]
    case = requantize_case(
        np.random.default_rng(seed), rows, columns, kind, dtype=dtype, zero_point=zero_point, axis=axis,
        per_channel=per_channel, misalign=misalign,
    )  # fmt: skip
    check(case, cores, tool)


@pytest.mark.parametrize("axis", [0, 1])
@EXAMPLES
@given(
    SEEDS, st.integers(1, 70), st.integers(2, 40), st.sampled_from(["int8", "uint8", "int32"]), MISALIGN, CORES, TOOLS
)
def test_requantize_channels_to_bytes(axis, seed, rows, columns, dtype, misalign, cores, tool):  # type: ignore[no-untyped-def]
    """A rule for each channel, last or first: rows are shared, or groups of channels where there are few."""
    rng = np.random.default_rng(seed)
    case = requantize_case(
        rng, rows, columns, dtype=dtype, zero_point=seed % 5, axis=axis, per_channel=True, misalign=misalign
    )
    check(case, cores, tool)


@pytest.mark.parametrize("kind", ["shift", "shift_even", "shift_away", "half_up"])
@EXAMPLES
@given(SEEDS, st.integers(1, 40), st.integers(1, 80), CORES, TOOLS)
def test_requantize_four_channels(kind, seed, rows, columns, cores, tool):  # type: ignore[no-untyped-def]
    """What engines leave to the cores: 32-bit numbers, channels in fours and a rest, each with summand and shift."""
    rng = np.random.default_rng(seed)
    check(requantize_case(rng, rows, columns, kind, dtype="int32", per_channel=True), cores, tool)


@pytest.mark.parametrize("limits", [(-34, 127), (-100, 50), (-9, 101), (12, 127), (12, 255)])
@pytest.mark.parametrize("kind", ["shift", "shift_even", "shift_away", "half_up"])
def test_ranges_that_no_instruction_clips(kind: str, limits: tuple[int, int]) -> None:
    """As of TFLite's ReLU, which cuts at the zero point."""
    rng = np.random.default_rng(abs(limits[0]))
    for rows, cores in ((1, 8), (13, 8), (5, 1)):
        with patch.object(random_requant, "random_range", lambda _: limits):
            case = requantize_case(rng, rows, 8 * rows + 4, kind, dtype="int32", per_channel=True)
        assert rows == 1 or {case.expected.min(), case.expected.max()} == set(limits)
        check(case, cores, "zig")


@pytest.mark.parametrize("limits", [(-34, 127), (-100, 50), (12, 127)])
def test_sums_in_such_ranges(limits: tuple[int, int]) -> None:
    rng = np.random.default_rng(abs(limits[0]))
    for rows, columns, cores in ((1, 200, 8), (7, 30, 8), (5, 31, 3), (1, 3, 1)):
        check(linear_sum_case(rng, rows, columns, misalign=rows % 4, limits=limits), cores, "zig")


@pytest.mark.parametrize("kind", ["shift", "shift_even", "shift_away", "half_up"])
@EXAMPLES
@given(
    SEEDS, st.integers(1, 9), st.integers(1, 9), st.integers(1, 48), st.tuples(*[st.integers(1, 3)] * 2), CORES, TOOLS
)
def test_requantize_some_pixels(kind, seed, height, width, channels, steps, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    channels = channels if kind.startswith("shift") else 4 * -(-channels // 4)
    check(thinned_case(rng, (height, width, channels), steps, kind), cores, tool)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [hardswish_case, gelu_case])
@EXAMPLES
@given(SEEDS, ROWS, COLUMNS, BYTES, st.booleans(), MISALIGN, CORES, TOOLS)
def test_activation(make, kind, seed, rows, columns, dtype, per_channel, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(make(rng, rows, columns, kind, dtype=dtype, per_channel=per_channel, misalign=misalign), cores, tool)


@EXAMPLES
@given(SEEDS, st.integers(1, 500), MISALIGN, CORES, TOOLS)
def test_lookup(seed, count, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(lookup_case(np.random.default_rng(seed), count, misalign=misalign), cores, tool)


@settings(max_examples=10)
@given(SEEDS, st.integers(1, 500), BYTES, st.booleans(), MISALIGN, CORES, TOOLS)
def test_gate(seed, count, dtype, rounded, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(gate_case(rng, count, dtype=dtype, rounded=rounded, misalign=misalign), cores, tool)


def test_a_large_gate_has_tables_of_cores() -> None:
    check(gate_case(np.random.default_rng(4), 4170, rounded=True, misalign=1), 8)


@settings(max_examples=40)
@given(SEEDS, ROWS, COLUMNS, st.sampled_from(["int8", "uint8", "int32"]), BYTES, MISALIGN, CORES, TOOLS)
def test_add_accumulators(seed, rows, columns, dtype, out, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(add_accumulators_case(rng, rows, columns, dtype, misalign=misalign, out=out), cores, tool)


@settings(max_examples=30)
@given(
    st.integers(0, 1 << 30), st.integers(1, 9), st.integers(1, 70), st.sampled_from(["int8", "uint8"]),
    st.sampled_from(["int8", "uint8"]), st.booleans(), st.integers(0, 3), st.integers(1, 8),
)  # fmt: skip
def test_qdq_mul(seed, rows, columns, first, second, broadcast, misalign, cores):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(qdq_mul_case(rng, rows, columns, types=(first, second), broadcast=broadcast, misalign=misalign), cores)


@settings(max_examples=60)
@given(SEEDS, ROWS, COLUMNS, BYTES, st.booleans(), st.booleans(), st.booleans(), CORES, TOOLS)
def test_quantize(seed, rows, columns, dtype, apart, ties, strange, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    check(quantize_case(rng, rows, columns, dtype=dtype, apart=apart, ties=ties, strange=strange), cores, tool)


@settings(max_examples=40)
@given(SEEDS, st.integers(1, 300), st.integers(0, 1), BYTES, st.booleans(), st.booleans(), CORES, TOOLS)
def test_quantize_pixels(seed, columns, repeated, dtype, ties, strange, cores, tool):  # type: ignore[no-untyped-def]
    """Three planes as pixels of three bytes, or of four whose last is the third again."""
    options = {"apart": True, "ties": ties, "strange": strange, "repeated": repeated}
    check(quantize_case(np.random.default_rng(seed), 3, columns, dtype=dtype, **options), cores, tool)


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 300), MISALIGN, CORES, TOOLS)
def test_lookup_pairs(seed, count, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(lookup_pairs_case(np.random.default_rng(seed), count, misalign=misalign), cores, tool)


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 300), BYTES, MISALIGN, CORES, TOOLS)
def test_dequantize(seed, count, dtype, misalign, cores, tool):  # type: ignore[no-untyped-def]
    check(dequantize_case(np.random.default_rng(seed), count, dtype, misalign=misalign), cores, tool)


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 20), st.integers(1, 20), BYTES, CORES, TOOLS)
def test_requantize_add(seed, rows, fours, dtype, cores, tool):  # type: ignore[no-untyped-def]
    check(requantize_add_case(np.random.default_rng(seed), rows, 4 * fours, dtype), cores, tool)


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 20), st.integers(1, 20), st.booleans(), CORES, TOOLS)
def test_requantize_table(seed, rows, fours, alike, cores, tool):  # type: ignore[no-untyped-def]
    check(requantize_table_case(np.random.default_rng(seed), rows, 4 * fours, alike=alike), cores, tool)


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 20), st.integers(1, 20), BYTES, BYTES, CORES, TOOLS)
def test_requantize_sum(seed, rows, fours, b_dtype, dtype, cores, tool):  # type: ignore[no-untyped-def]
    check(requantize_sum_case(np.random.default_rng(seed), rows, 4 * fours, b_dtype, dtype), cores, tool)
