"""The C helpers of kernels equal their numpy references on random and extreme values, with no undefined behaviour."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from tvm_pulp.qnn import fixed_point, real, softmax_table, softmax_tflite
from tvm_pulp.qnn.fixed_point_functions import exponential
from tvm_pulp.qnn.requant import Requant, is_short
from tvm_pulp.qnn.softmax_table import TableSoftmaxAttributes
from tvm_pulp.toolchain import build_host_library

# Wrappers over arrays: one call for many values.
DRIVER = """
#include "tvm_pulp/integer.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/softmax_tflite.h"
#define MAP(name) \\
  void map_##name(const int32_t *a, const int32_t *b, const int32_t *c, int32_t *y, int32_t n); \\
  void map_##name(const int32_t *a, const int32_t *b, const int32_t *c, int32_t *y, int32_t n) { \\
    for (int32_t i = 0; i < n; ++i) y[i] = tvm_pulp_##name(a[i], b[i], c[i], 3, -128, 127); }
MAP(requantize_tflite)
#define MAP_SHORT(name, zero_point, low) \
  void map_##name(const int32_t *a, const int32_t *b, const int32_t *c, int32_t *y, int32_t n); \
  void map_##name(const int32_t *a, const int32_t *b, const int32_t *c, int32_t *y, int32_t n) { \
    for (int32_t i = 0; i < n; ++i) y[i] = tvm_pulp_requantize_tflite_short(a[i], b[i], c[i], zero_point, low, 127); }
MAP_SHORT(short, 3, -128)
MAP_SHORT(short_positive, -7, -7)
MAP(requantize_half_up)
MAP(requantize_half_even)
void map_exp(const int32_t *a, int32_t *y, int32_t n);
void map_exp(const int32_t *a, int32_t *y, int32_t n) {
  for (int32_t i = 0; i < n; ++i) y[i] = tvm_pulp_exp_q5(a[i]);
}
void map_reciprocal(const int32_t *a, int32_t *y, int32_t *bits, int32_t n);
void map_reciprocal(const int32_t *a, int32_t *y, int32_t *bits, int32_t n) {
  for (int32_t i = 0; i < n; ++i) {
    y[i] = tvm_pulp_softmax_reciprocal(a[i]);
    bits[i] = tvm_pulp_softmax_output_bits(a[i]);
  }
}
void map_round(const float *a, int32_t *y, int32_t n);
void map_round(const float *a, int32_t *y, int32_t n) {
  for (int32_t i = 0; i < n; ++i) y[i] = tvm_pulp_round_even(a[i]);
}
void map_root(const float *a, float *y, int32_t n);
void map_root(const float *a, float *y, int32_t n) {
  for (int32_t i = 0; i < n; ++i) y[i] = tvm_pulp_inverse_root(a[i]);
}
"""
COUNT = 200_000


@pytest.fixture(scope="module")
def library(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    driver = tmp_path_factory.mktemp("arithmetic") / "driver.c"
    driver.write_text(DRIVER)
    return ctypes.CDLL(str(build_host_library([driver], [repository / "c_runtime" / "include"], sanitize=True)))


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _accumulators(rng: np.random.Generator, limit: int) -> np.ndarray:
    """Of every magnitude, with the extremes."""
    values = (rng.uniform(-1, 1, COUNT) * 2.0 ** rng.uniform(0, np.log2(limit), COUNT)).astype(np.int64)
    values[:4] = (0, 1, limit - 1, -limit)
    return values.astype(np.int32)


@pytest.mark.parametrize("kind", ["tflite", "half_up", "half_even"])
def test_requantization(library: ctypes.CDLL, kind: str) -> None:
    rng = np.random.default_rng(0)
    acc = _accumulators(rng, 1 << (27 if kind == "tflite" else 31))
    mul = rng.integers(1 << 30, (1 << 31) - 1, COUNT).astype(np.int32)
    if kind == "tflite":
        second = rng.integers(-31, 4, COUNT).astype(np.int32)
    else:
        second = rng.integers(1, 63, COUNT).astype(np.int32)
        # Ties: products that end in exactly one half.
        mul[: COUNT // 4] = 1 << 30
        second[: COUNT // 4] = 31
    out = np.empty(COUNT, np.int32)
    getattr(library, f"map_requantize_{kind}")(*map(_pointer, (acc, mul, second, out)), COUNT)
    expected = Requant(kind, 0, 3, -128, 127).apply(acc, [mul, second])
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("name", "zero_point", "low"), [("short", 3, -128), ("short_positive", -7, -7)])
def test_the_short_form_of_tflite(library: ctypes.CDLL, name: str, zero_point: int, low: int) -> None:
    """Where `is_short` says so, to the ends of the accumulators it is asked for."""
    rng = np.random.default_rng(7)
    exponent = rng.integers(-20, 0, COUNT).astype(np.int32)
    mul = rng.integers(0, 1 << 31, COUNT).astype(np.int32)
    # Ties of the second rounding, of both signs.
    mul[: COUNT // 4] = 1 << 30
    limit = 1 << 27
    acc = _accumulators(rng, limit)
    acc[: COUNT // 4] = (rng.integers(-200, 200, COUNT // 4) * 2 + 1) << rng.integers(0, 18, COUNT // 4)
    assert is_short(np.array([-limit]), np.array([limit]), [mul, exponent], zero_point)
    out = np.empty(COUNT, np.int32)
    getattr(library, f"map_{name}")(*map(_pointer, (acc, mul, exponent, out)), COUNT)
    np.testing.assert_array_equal(out, Requant("tflite", 0, zero_point, low, 127).apply(acc, [mul, exponent]))


@pytest.mark.parametrize(
    ("least", "most", "mul", "exponent", "expected"),
    [
        (-(1 << 30), (1 << 30) - 1, 1 << 30, -8, True),
        (-(1 << 30), 1 << 30, 1 << 30, -8, False),  # twice the largest has 33 bits
        (-10, 10, -1, -8, False),
        (-10, 10, 1 << 30, 0, False),
        (-10, 10, 1 << 30, -21, False),
        (0, (1 << 30) - 1, (1 << 31) - 1, -20, False),  # with the zero point of 100 the sum has 33 bits
        (-(1 << 31), 1 << 31, 1 << 30, -8, False),
    ],
)
def test_where_the_short_form_holds(least: int, most: int, mul: int, exponent: int, expected: bool) -> None:
    constants = [np.array([mul], np.int32), np.array([exponent], np.int32)]
    assert is_short(np.array([least]), np.array([most]), constants, 100) == expected


def test_half_even_is_exact() -> None:
    # Against Python's own rounding of exact fractions.
    from fractions import Fraction

    rng = np.random.default_rng(1)
    for _ in range(2000):
        acc, mul, shift = int(rng.integers(-(2**31), 2**31)), int(rng.integers(0, 2**31)), int(rng.integers(1, 63))
        mul = mul if rng.random() < 0.5 else 1 << int(rng.integers(0, 31))
        result = int(fixed_point.scale_half_even(np.int64(acc), np.int64(mul), np.int64(shift)))
        assert result == round(Fraction(acc * mul, 1 << shift))


def test_softmax_exponential(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(2)
    a = -rng.integers(0, 31 << 26, COUNT).astype(np.int32)
    a[:3] = (0, -1, -(31 << 26))
    out = np.empty(COUNT, np.int32)
    library.map_exp(_pointer(a), _pointer(out), COUNT)
    np.testing.assert_array_equal(out, exponential(a.astype(np.int64), softmax_tflite.DIFFERENCE_BITS, 31))
    # The reference itself approximates exp.
    np.testing.assert_allclose(out / 2**31, np.exp(a / 2.0**26), atol=2e-6)


def test_softmax_reciprocal(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(3)
    total = (2.0 ** rng.uniform(19, 31, COUNT)).astype(np.int64).astype(np.int32)
    out, bits = np.empty(COUNT, np.int32), np.empty(COUNT, np.int32)
    library.map_reciprocal(_pointer(total), _pointer(out), _pointer(bits), COUNT)
    mantissa, over_unit = softmax_tflite.reciprocal(total.astype(np.int64))
    np.testing.assert_array_equal(out, mantissa)
    np.testing.assert_array_equal(bits, over_unit + 31 - 8)


@pytest.mark.parametrize("scale", [0.001, 0.05, 1.0])
@pytest.mark.parametrize("output_scale", [1 / 256, 0.0037, 0.5])
def test_softmax_table(scale: float, output_scale: float) -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(-128, 128, (50, 300))
    bits = softmax_table.fraction_bits(x.shape[-1])
    assert bits is not None
    attributes = {"gain": softmax_table.gain(output_scale), "zero_point": -5, "low": -128, "high": 127, "dtype": "int8"}
    result = softmax_table.reference(
        TableSoftmaxAttributes.from_values({"form": "table", **attributes}), x, softmax_table.exponentials(scale, bits)
    )
    # The definition, in float64.
    weights = np.exp(scale * (x - x.max(-1, keepdims=True)))
    ideal = weights / weights.sum(-1, keepdims=True) / output_scale - 5
    assert np.abs(result - np.clip(ideal, -128, 127)).max() <= 0.501


def test_round_even(library: ctypes.CDLL) -> None:
    """Ties, signs, what is too large, and everything in between."""
    rng = np.random.default_rng(5)
    halves = np.arange(-2000, 2000, dtype=np.float32) / 2
    x = np.concatenate([halves, rng.normal(size=COUNT), 2.0 ** rng.uniform(-30, 40, COUNT)]).astype(np.float32)
    x = np.concatenate([x, -x, [np.inf, -np.inf]]).astype(np.float32)
    out = np.empty(x.size, np.int32)
    library.map_round(_pointer(x), _pointer(out), x.size)
    np.testing.assert_array_equal(out, real.round_even(x))
    np.testing.assert_array_equal(out, np.rint(np.clip(x, -(2.0**22), 2.0**22)).astype(np.int32))


def test_inverse_root(library: ctypes.CDLL) -> None:
    x = np.concatenate([2.0 ** np.random.default_rng(6).uniform(-60, 60, COUNT), [0, -1]]).astype(np.float32)
    out = np.empty(x.size, np.float32)
    library.map_root(_pointer(x), _pointer(out), x.size)
    np.testing.assert_array_equal(out, real.inverse_root(x))
    np.testing.assert_allclose(out[:-2], 1 / np.sqrt(x[:-2].astype(np.float64)), rtol=3e-7)
