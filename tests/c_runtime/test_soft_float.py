"""Float arithmetic by integers, as cores without a float unit compute: the bits of a machine that has one."""

import ctypes
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.c_runtime.test_math import Floats, all_kinds_of_floats
from tvm_pulp.qnn.quantize import quantized
from tvm_pulp.toolchain import build_host_library

DRIVER = """
#include <stddef.h>
#define TVM_PULP_SOFT_FLOAT
#include "tvm_pulp/float.h"
#include "tvm_pulp/real.h"
void map_fma(const float *a, const float *b, const float *c, float *out, size_t count);
void map_fma(const float *a, const float *b, const float *c, float *out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = tvm_pulp_fma(a[i], b[i], c[i]);
}
void map_quantize(const float *x, float scale, int32_t zero, int32_t low, int32_t high, int32_t *out, size_t count);
void map_quantize(const float *x, float scale, int32_t zero, int32_t low, int32_t high, int32_t *out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = tvm_pulp_quantize(x[i], scale, 1.0f / scale, 0.0f, zero, low, high);
}
void map_round(const float *x, int32_t *out, size_t count);
void map_round(const float *x, int32_t *out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = tvm_pulp_soft_round_even(x[i]);
}
"""
RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}


@pytest.fixture(scope="module")
def library(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    driver = tmp_path_factory.mktemp("soft") / "driver.c"
    driver.write_text(DRIVER)
    return ctypes.CDLL(str(build_host_library([driver], [repository / "c_runtime" / "include"], sanitize=True)))


def fma(library: ctypes.CDLL, *operands: Floats) -> Floats:
    held = [np.ascontiguousarray(o, np.float32) for o in operands]
    out = np.empty_like(held[0])
    library.map_fma(*[ctypes.c_void_p(v.ctypes.data) for v in (*held, out)], ctypes.c_size_t(out.size))
    return out


def nearest(exact: Fraction) -> np.float32:
    """The float next to a fraction, half to even; nothing but integers is used."""
    if exact == 0:
        return np.float32(0)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - 23, -149)
    value = round(size / unit) * unit
    return np.float32(np.copysign(np.inf if value >= Fraction(2) ** 128 else float(value), float(exact > 0) - 0.5))


def test_products_that_are_added(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(11)
    a, b = (rng.normal(size=3000).astype(np.float32) for _ in range(2))
    # Sums that nearly or wholly cancel, and summands far above and far below.
    scale = rng.choice([-1.0, 1.0, -0.5, 2.0**-24, -(2.0**-25), 2.0**-50, 2.0**30, -(2.0**61), 2.0**70], a.size)
    c = (a.astype(np.float64) * b * scale).astype(np.float32)
    # Products halfway between two floats, decided by the summand.
    a[:100], b[:100], c[:100] = 1 + 2.0**-12, 1 + 2.0**-12, rng.choice([2.0**-60, -(2.0**-60), 0.0], 100)
    # Results around the smallest and the largest numbers.
    a[100:600], b[100:600], c[100:600] = a[100:600] * 2.0**-70, b[100:600] * 2.0**-66, c[100:600] * 2.0**-136
    a[600:900], b[600:900], c[600:900] = a[600:900] * 2.0**64, b[600:900] * 2.0**63, c[600:900] * 2.0**40
    a[900:1100] *= np.float32(2.0**-136)
    for *values, result in zip(a, b, c, fma(library, a, b, c), strict=True):
        x, y, z = (Fraction(float(v)) for v in values)
        expected = nearest(x * y + z)
        assert result == expected, [float(v).hex() for v in values]


def test_products_of_all_kinds(library: ctypes.CDLL) -> None:
    """Zeros of both signs, infinities, what is not a number and the smallest numbers, against doubles.

    The product of two floats is exact as a double. So is the sum wherever one of the two is zero or infinite.
    """
    kinds = all_kinds_of_floats(2**25 + 12345)
    some = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 3e38], np.float32)
    kinds = np.concatenate([some, kinds])
    a, b, c = (m.reshape(-1) for m in np.meshgrid(kinds, some, some, indexing="ij"))
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b
        expected = (product + c).astype(np.float32)
        told = (product == 0) | (c == 0) | ~np.isfinite(product) | ~np.isfinite(c)
    result = fma(library, a, b, c)
    np.testing.assert_array_equal(result[told], expected[told])
    both = told & ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[both]), np.signbit(expected[both]))
    assert told.sum() > 10_000


@pytest.mark.parametrize("dtype", RANGES)
@pytest.mark.parametrize("scale", [0.0173, 1.0, 2.0**-7, 3.4e-5, 1.1e-38, 7e-40, 2.5e38])
def test_quantization(library: ctypes.CDLL, dtype: str, scale: float) -> None:
    """Values everywhere, and those beside and on the middle between two whole numbers."""
    low, high = RANGES[dtype]
    rng, step = np.random.default_rng(7), np.float32(scale)
    with np.errstate(all="ignore"):
        middle = ((rng.integers(-70000, 70000, 20_000) + 0.5) * np.float64(step)).astype(np.float32)
        small = ((rng.integers(-300, 300, 20_000) + 0.5) * np.float64(step)).astype(np.float32)
        around = [np.nextafter(m, np.float32(way)) for m in (middle, small) for way in (np.inf, -np.inf)]
        spread = (rng.normal(size=20_000) * (high - low) * scale).astype(np.float32)
    x = np.concatenate([middle, small, *around, spread, all_kinds_of_floats(2**17 + 331)])
    for zero in (low, (low + high) // 2, high):
        out = np.empty(x.size, np.int32)
        library.map_quantize(
            ctypes.c_void_p(x.ctypes.data), ctypes.c_float(step), zero, low, high,
            ctypes.c_void_p(out.ctypes.data), ctypes.c_size_t(x.size),
        )  # fmt: skip
        np.testing.assert_array_equal(out, quantized(x, np.array(step), np.array(zero), dtype).astype(np.int32))


def test_nearest_integers(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(9)
    halves = (rng.integers(-(2**23), 2**23, 50_000) * 0.5).astype(np.float32)
    x = np.concatenate([all_kinds_of_floats(2**15 + 3), halves, rng.normal(size=50_000).astype(np.float32) * 100])
    x = np.ascontiguousarray(x[~np.isnan(x)])
    out = np.empty(x.size, np.int32)
    library.map_round(*[ctypes.c_void_p(v.ctypes.data) for v in (x, out)], ctypes.c_size_t(x.size))
    np.testing.assert_array_equal(out, np.clip(np.rint(x.astype(np.float64)), -(2**22), 2**22).astype(np.int32))
