"""Dense, matmul, convolution: random shapes, odd sizes, all requantization forms, 1 to 8 cores, both compilers."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.kernels.bias_of_rest_case import bias_of_rest_case
from tests.kernels.check import TOOLCHAINS, check
from tests.kernels.long_dense_case import long_dense_case
from tests.kernels.matrix_cases import (
    Window,
    conv2d_case,
    dense_case,
    depthwise_case,
    matmul_case,
    nibble_dense_case,
    small_depthwise_case,
)
from tests.kernels.random_requant import KINDS, LAYER_KINDS, Rule, rule_of_halves
from tvm_pulp.qnn.requant import Requant

SEEDS = st.integers(0, 1 << 30)
CORES = st.integers(1, 8)
BYTES = st.sampled_from(["int8", "uint8"])
EXAMPLES = settings(max_examples=12)
MISALIGN = st.integers(0, 3)
SIZE = st.integers(1, 18)
WINDOWS = st.builds(
    Window,
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from([(1, 1), (1, 1), (2, 1), (1, 2)]),
    st.tuples(*[st.integers(0, 4)] * 4),
)
# Rows of up to five words, with the padding that they usually have.
WIDE_WINDOWS = st.builds(
    lambda height, width, stride: Window(
        (height, width), stride, pads=(height // 2, width // 2, height // 2, width // 2)
    ),
    st.integers(1, 8),
    st.integers(5, 17),
    st.sampled_from([(1, 1), (1, 1), (2, 2), (1, 2), (3, 3)]),
)
IMAGES = st.tuples(st.integers(5, 9), st.integers(5, 10), st.integers(1, 11))


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", LAYER_KINDS)
@EXAMPLES
@given(SEEDS, SIZE, SIZE, st.integers(1, 45), BYTES, st.booleans(), MISALIGN, CORES, st.sampled_from(TOOLCHAINS))
def test_dense(kind, seed, rows, columns, depth, dtype, per_channel, misalign, cores, toolchain):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    case = dense_case(rng, rows, columns, depth, kind, dtype=dtype, per_channel=per_channel, misalign=misalign)
    check(case, cores, toolchain)


@pytest.mark.parametrize("kind", ["tflite", "half_up"])
@EXAMPLES
@given(SEEDS, st.integers(1, 9), st.integers(-128, 127), BYTES, st.booleans())
def test_promised_roundings(kind, seed, rows, zero_point, dtype, unsigned_result):  # type: ignore[no-untyped-def]
    """Multipliers that are powers of two, or nearly so, leave halves and what is next to them."""
    rng, columns = np.random.default_rng(seed), 64
    mul = rng.choice([1 << 30, 1 << 30, (1 << 30) + 1, (1 << 31) - 1], columns).astype(np.int32)
    right = rng.integers(1, 21, columns).astype(np.int32)
    range_ = (0, 255) if unsigned_result else (-128, 127)
    rule = Rule(
        Requant(kind, 0, zero_point + 128 * unsigned_result, *range_), (mul, -right if kind == "tflite" else 31 + right)
    )
    case = dense_case(rng, rows, columns, 4, dtype=dtype, rule=rule, promised=True)
    assert case.call.arguments["requant"]["shift"] == 1
    check(case, 3)


OFFSETS = st.sampled_from([-128, -9, 1, 37, 127])


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(
    SEEDS, st.integers(1, 70), SIZE, st.integers(1, 45), BYTES, OFFSETS, MISALIGN, CORES, st.sampled_from(TOOLCHAINS)
)
def test_dense_with_asymmetric_weights(kind, seed, rows, columns, depth, dtype, offset, misalign, cores, toolchain):  # type: ignore[no-untyped-def]
    case = dense_case(
        np.random.default_rng(seed), rows, columns, depth, kind, dtype=dtype, misalign=misalign, offset=offset
    )
    check(case, cores, toolchain)


HALVES = st.sampled_from(["int16", "uint16"])


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(SEEDS, SIZE, SIZE, st.integers(1, 45), HALVES, st.booleans(), CORES, st.sampled_from(TOOLCHAINS))
def test_dense_of_16_bits(kind, seed, rows, columns, depth, dtype, per_channel, cores, toolchain):  # type: ignore[no-untyped-def]
    case = dense_case(np.random.default_rng(seed), rows, columns, depth, kind, dtype=dtype, per_channel=per_channel)
    check(case, cores, toolchain)


@pytest.mark.sample(2)
@pytest.mark.parametrize("result", ["int16", "uint16", "int8", "uint8"])
@EXAMPLES
@given(SEEDS, SIZE, SIZE, st.integers(1, 300), st.integers(1, 120), HALVES, CORES, st.sampled_from(TOOLCHAINS))
def test_sums_beyond_32_bits(result, seed, rows, columns, pairs, part, dtype, cores, toolchain):  # type: ignore[no-untyped-def]
    case = long_dense_case(np.random.default_rng(seed), rows, columns, 2 * pairs, 2 * part, dtype, result)
    check(case, cores, toolchain)


@pytest.mark.parametrize("scale", ["uint8", "int32"])
@EXAMPLES
@given(SEEDS, st.integers(1, 300), st.integers(1, 4), BYTES, MISALIGN, CORES, st.sampled_from(TOOLCHAINS))
def test_bias_of_rest(scale, seed, columns, fours, dtype, misalign, cores, toolchain):  # type: ignore[no-untyped-def]
    case = bias_of_rest_case(np.random.default_rng(seed), columns, 4 * fours, dtype, scale, misalign)
    check(case, cores, toolchain)


@pytest.mark.parametrize("kind", ["half_up", "half_even"])
@EXAMPLES
@given(SEEDS, SIZE, SIZE, st.integers(1, 300), st.one_of(BYTES, HALVES), HALVES, CORES, st.sampled_from(TOOLCHAINS))
def test_dense_to_16_bits(kind, seed, rows, columns, depth, dtype, to, cores, toolchain):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    bound = depth * 128 * (255 if dtype in ("int8", "uint8") else 40000)
    rule = rule_of_halves(rng, kind, bound, int(rng.choice([1, columns])), to)
    check(dense_case(rng, rows, columns, depth, dtype=dtype, rule=rule, promised=False), cores, toolchain)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", LAYER_KINDS)
@EXAMPLES
@given(SEEDS, IMAGES, SIZE, WINDOWS, BYTES, OFFSETS, MISALIGN, CORES, st.sampled_from(TOOLCHAINS))
def test_conv2d_with_asymmetric_weights(kind, seed, size, channels, window, dtype, offset, misalign, cores, toolchain):  # type: ignore[no-untyped-def]
    assume(min(window.output(*size[:2])) >= 1)
    rng = np.random.default_rng(seed)
    case = conv2d_case(
        rng, size, channels, window, kind, dtype=dtype, zero_point=int(rng.integers(0, 9)), misalign=misalign,
        windows=int(rng.choice([4, 8, 16])), offset=offset,
    )  # fmt: skip
    check(case, cores, toolchain)


@EXAMPLES
@given(SEEDS, st.integers(1, 12), st.integers(1, 45), BYTES, st.booleans(), st.booleans(), MISALIGN, CORES)
def test_dense_of_one_row(seed, tiles, depth, dtype, per_channel, without_bias, misalign, cores):  # type: ignore[no-untyped-def]
    case = dense_case(
        np.random.default_rng(seed), 1, 4 * tiles, depth, dtype=dtype, per_channel=per_channel, misalign=misalign,
        without_bias=without_bias,
    )  # fmt: skip
    if case.call.arguments["requant"]["wide_result"] == 0:
        check(case, cores)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(
    SEEDS, st.integers(1, 3), SIZE, SIZE, st.integers(1, 40), st.tuples(BYTES, BYTES), st.booleans(), st.booleans(),
    st.tuples(st.integers(-9, 9), st.sampled_from([0, 0, 5, -7])), MISALIGN, CORES, st.sampled_from(TOOLCHAINS),
)  # fmt: skip
def test_matmul(kind, seed, batch, rows, columns, depth, types, transposed, per_channel, zeros, misalign, cores, tool):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    case = matmul_case(
        rng, batch, rows, columns, depth, kind, types=types, transpose_b=transposed, zero_points=zeros,
        per_channel=per_channel, misalign=misalign,
    )  # fmt: skip
    check(case, cores, tool)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", LAYER_KINDS)
@EXAMPLES
@given(SEEDS, IMAGES, SIZE, WINDOWS, BYTES, st.booleans(), MISALIGN, CORES, st.sampled_from(TOOLCHAINS))
def test_conv2d(kind, seed, size, channels, window, dtype, per_channel, misalign, cores, toolchain):  # type: ignore[no-untyped-def]
    assume(min(window.output(*size[:2])) >= 1)
    rng = np.random.default_rng(seed)
    zero_point = int(rng.integers(0, 9)) if seed % 2 else 0
    case = conv2d_case(
        rng, size, channels, window, kind, dtype=dtype, per_channel=per_channel, zero_point=zero_point,
        misalign=misalign, windows=int(rng.choice([4, 4, 5, 8, 16])),
    )  # fmt: skip
    check(case, cores, toolchain)


@EXAMPLES
@given(SEEDS, IMAGES, SIZE, BYTES, CORES)
def test_conv2d_that_needs_no_windows(seed, size, channels, dtype, cores):  # type: ignore[no-untyped-def]
    window = Window((1, 1), pads=(0, 0, 0, 0))
    check(conv2d_case(np.random.default_rng(seed), size, channels, window, dtype=dtype), cores)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", LAYER_KINDS)
@EXAMPLES
@given(
    SEEDS, IMAGES, st.one_of(WINDOWS, WIDE_WINDOWS, st.just(Window()), st.just(Window(strides=(2, 2)))), BYTES,
    st.booleans(), st.integers(0, 6), MISALIGN, CORES, st.sampled_from(TOOLCHAINS),
)  # fmt: skip
def test_depthwise_conv2d(kind, seed, size, window, dtype, per_channel, more_rows, misalign, cores, toolchain):  # type: ignore[no-untyped-def]
    assume(min(window.output(*size[:2])) >= 1)
    rng = np.random.default_rng(seed)
    zero_point = int(rng.integers(0, 9)) if seed % 2 else 0
    case = depthwise_case(
        rng, size, window, kind, dtype=dtype, per_channel=per_channel, zero_point=zero_point, misalign=misalign,
        plane_rows=window.kernel[0] + more_rows, multiplier=1 + seed % 3, turned=bool(seed & 4),
    )  # fmt: skip
    check(case, cores, toolchain)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(
    SEEDS, st.sampled_from([(1, 1), (2, 2), (1, 7), (3, 3), (3, 4), (4, 4), (2, 8)]), st.integers(1, 11),
    st.one_of(WINDOWS, WIDE_WINDOWS), BYTES, st.booleans(), MISALIGN, CORES, st.sampled_from(TOOLCHAINS),
)  # fmt: skip
def test_small_depthwise(kind, seed, size, channels, window, dtype, per_channel, misalign, cores, toolchain):  # type: ignore[no-untyped-def]
    assume(min(window.output(*size)) >= 1)
    rng, zero_point = np.random.default_rng(seed), seed % 9
    case = small_depthwise_case(
        rng, (*size, channels), window, kind, dtype=dtype, per_channel=per_channel, zero_point=zero_point,
        misalign=misalign, multiplier=1 + seed % 3,
    )  # fmt: skip
    check(case, cores, toolchain)


@EXAMPLES
@given(SEEDS, st.integers(1, 40), st.integers(1, 80), BYTES, MISALIGN, CORES, st.sampled_from(TOOLCHAINS))
def test_weights_of_four_bits(seed, fours, words, dtype, misalign, cores, toolchain):  # type: ignore[no-untyped-def]
    rng, plain = np.random.default_rng(seed), seed % 2 == 0
    changes = {"per_channel": not plain, "without_bias": plain, "misalign": misalign}
    check(nibble_dense_case(rng, 4 * fours, 4 * words, dtype, **changes), cores, toolchain)
