"""Fast functions of floats against float64, over samples of all bit patterns and dense ranges."""

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.c_runtime.test_math import (
    Doubles,
    Floats,
    all_kinds_of_floats,
    apply,
    error_function,
    pairs,
    units_in_the_last_place,
)
from tvm_pulp import soc as socs
from tvm_pulp.soc.this_machine import missing_instructions
from tvm_pulp.toolchain import build_host_library
from tvm_pulp.toolchain.zig import find_zig

UNARY = ("exp", "exp_below", "sigmoid", "tanh", "erf", "sqrt", "rsqrt")
DRIVER = """
#include <stddef.h>
#include "tvm_pulp/power.h"
%s
void map_unary(float (*function)(float), const float *x, float *out, size_t count);
void map_binary(float (*function)(float, float), const float *x, const float *y, float *out, size_t count);
void map_unary(float (*function)(float), const float *x, float *out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = function(x[i]);
}
void map_binary(float (*function)(float, float), const float *x, const float *y, float *out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = function(x[i], y[i]);
}
void map_fma(const float *a, const float *b, const float *c, float *out, size_t count);
void map_fma(const float *a, const float *b, const float *c, float *out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = tvm_pulp_fma(a[i], b[i], c[i]);
}
float of_int64(int64_t x);
float of_int64(int64_t x) { return tvm_pulp_float_of_int64(x); }
"""
BINARY = ("divide", "fmax", "fmin", "power")


X86 = ("x86-64-avx2", "x86-64-avxvnni", "x86-64-vnni")


def write_driver(driver: Path) -> Path:
    wrap = "float tvm_pulp_fast_{0}({1}); float tvm_pulp_fast_{0}({1}) {{ return tvm_pulp_{0}({2}); }}\n"
    text = "".join(wrap.format(n, "float x", "x") for n in UNARY)
    text += "".join(wrap.format(n, "float x, float y", "x, y") for n in BINARY)
    driver.write_text(DRIVER % text)
    return driver


@pytest.fixture(scope="module")
def library(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    driver = write_driver(tmp_path_factory.mktemp("functions") / "driver.c")
    runtime = repository / "c_runtime"
    sources, includes = [driver, *sorted((runtime / "math").glob("*.c"))], [runtime / "include", runtime / "math"]
    return ctypes.CDLL(str(build_host_library(sources, includes, sanitize=True)))


REFERENCES: dict[str, tuple[Callable[[Doubles], Doubles], tuple[float, float]]] = {
    "exp": (np.exp, (-104.0, 89.0)),
    "exp_below": (lambda x: np.where(x < -87, 0.0, np.exp(x)), (-100.0, 0.0)),
    # Below, the exponential in the denominator is infinite.
    "sigmoid": (lambda x: np.where(x < -88.722839, 0.0, 1.0 / (1.0 + np.exp(-x))), (-100.0, 100.0)),
    "tanh": (np.tanh, (-10.0, 10.0)),
    "erf": (error_function, (-4.1, 4.1)),
    "sqrt": (np.sqrt, (0.0, 4.0)),
    "rsqrt": (lambda x: 1.0 / np.sqrt(x), (0.0, 4.0)),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_are_within_four_units_in_the_last_place(library: ctypes.CDLL, name: str) -> None:
    reference, (low, high) = REFERENCES[name]
    step = 9973 if name == "erf" else 997
    dense = np.linspace(low, high, 200_000, dtype=np.float64).astype(np.float32)
    x = np.concatenate([all_kinds_of_floats(step), dense])
    x = x[~(x > 0)] if name == "exp_below" else x
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
        assert units_in_the_last_place(apply(library, f"fast_{name}", x), exact) < 4.0


def test_division_is_within_two_units_in_the_last_place(library: ctypes.CDLL) -> None:
    x, y = pairs(400_000)
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64) / y.astype(np.float64)
        assert units_in_the_last_place(apply(library, "fast_divide", x, y), exact) < 2.0


def test_powers_of_positive_numbers_are_close_and_all_others_exact(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(5)
    x, y = np.exp(rng.uniform(-20, 20, 50_000)).astype(np.float32), rng.uniform(-4, 4, 50_000).astype(np.float32)
    exact = np.power(x.astype(np.float64), y.astype(np.float64))
    normal = (exact > 1e-37) & (exact < 1e38)
    np.testing.assert_allclose(apply(library, "fast_power", x, y)[normal], exact[normal], rtol=2**-16)
    a, b = pairs(20_000)
    rest = ~((a > 0) & np.isfinite(a) & np.isfinite(b))
    np.testing.assert_array_equal(apply(library, "fast_power", a, b)[rest], apply(library, "powf", a, b)[rest])


@pytest.mark.parametrize(("name", "reference"), [("fmax", np.maximum), ("fmin", np.minimum)])
def test_extremes(library: ctypes.CDLL, name: str, reference: Callable[[Floats, Floats], Floats]) -> None:
    """A number wins over every NaN; NumPy's own `fmax` leaves those that signal to the machine it runs on."""
    x, y = pairs(100_000)
    expected = np.where(np.isnan(x), y, np.where(np.isnan(y), x, reference(x, y)))
    np.testing.assert_array_equal(apply(library, f"fast_{name}", x, y), expected)


def check_rounded_once(library: ctypes.CDLL) -> None:
    # Against exact fractions, where the sum of the rounded product would often be another float.
    from fractions import Fraction

    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=4000).astype(np.float32) for _ in range(2))
    # Sums that nearly cancel, and summands far below the last bit of the product.
    scale = rng.choice([-1.0, 1.0, 2.0**-24, -(2.0**-25), 2.0**-50, 2.0**30], 4000)
    c = (a.astype(np.float64) * b * scale).astype(np.float32)
    # Products halfway between two floats, decided by the summand.
    a[:200], b[:200], c[:200] = 1 + 2.0**-12, 1 + 2.0**-12, rng.choice([2.0**-60, -(2.0**-60), 0.0], 200)
    out = np.empty_like(a)
    pointers = [ctypes.c_void_p(v.ctypes.data) for v in (a, b, c, out)]
    library.map_fma(*pointers, ctypes.c_size_t(a.size))
    for values in zip(a.tolist(), b.tolist(), c.tolist(), out.tolist(), strict=True):
        x, y, z, result = (Fraction(v) for v in values)
        exact, near = x * y + z, np.float32(values[3])
        for other in (np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))):
            assert abs(exact - result) <= abs(exact - Fraction(float(other)))


def test_product_and_sum_are_rounded_once(library: ctypes.CDLL) -> None:
    check_rounded_once(library)


def flags_of(soc: str) -> list[str]:
    cpu = socs.load(soc).cpu
    assert cpu is not None
    return list(cpu.flags)


@pytest.mark.parametrize("soc", X86)
def test_product_and_sum_are_one_instruction_of_x86(soc: str, repository: Path, tmp_path: Path) -> None:
    """A sum in software takes some 25 instructions; vectors of AVX2 and later come with one for it."""
    driver, assembly = write_driver(tmp_path / "driver.c"), tmp_path / "driver.s"
    command = [str(find_zig()), "cc", "-target", "x86_64-linux-musl", "-std=gnu11", "-ffp-contract=off", "-g0"]
    include = f"-I{repository / 'c_runtime' / 'include'}"
    subprocess.run([*command, *flags_of(soc), include, "-S", driver, "-o", assembly], check=True)
    _, _, function = assembly.read_text().partition("\nmap_fma:")
    function = function.partition(".Lfunc_end")[0]
    assert "vfmadd" in function and "mulsd" not in function and "mulpd" not in function


@pytest.mark.parametrize("soc", X86)
def test_product_and_sum_of_x86_are_rounded_once(soc: str, repository: Path, tmp_path: Path) -> None:
    cpu = socs.load(soc).cpu
    assert cpu is not None
    if missing := missing_instructions(cpu):
        pytest.skip(f"this machine has no {', '.join(missing)}")
    runtime = repository / "c_runtime"
    sources = [write_driver(tmp_path / "driver.c"), *sorted((runtime / "math").glob("*.c"))]
    made = build_host_library(sources, [runtime / "include", runtime / "math"], extra_flags=flags_of(soc))
    check_rounded_once(ctypes.CDLL(str(made)))


@pytest.mark.parametrize("x", [0, -1, 255, 2**24 + 1, -(2**31), 2**31, 2**31 + 128, -(2**40) - 1, 2**63 - 1, -(2**63)])
def test_long_integers(library: ctypes.CDLL, x: int) -> None:
    """Those of 32 bits and those beyond are rounded to the nearest float."""
    convert = library.of_int64
    convert.argtypes, convert.restype = [ctypes.c_int64], ctypes.c_float
    assert convert(x) == np.float32(x)
