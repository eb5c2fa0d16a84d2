"""Float32 mathematics against NumPy's float64 functions, over samples of all bit patterns and dense ranges."""

import ctypes
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tvm_pulp.toolchain import build_host_library, compile_objects, host_compiler
from tvm_pulp.toolchain.riscv_compilers import RISCV_ISAS, zig_riscv_compiler

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

# Applies a function to arrays, so that millions of values take no time.
DRIVER = """
#include <stddef.h>
void map_unary(float (*function)(float), const float *x, float *out, size_t count);
void map_binary(float (*function)(float, float), const float *x, const float *y, float *out, size_t count);
void map_unary(float (*function)(float), const float *x, float *out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = function(x[i]);
}
void map_binary(float (*function)(float, float), const float *x, const float *y, float *out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = function(x[i], y[i]);
}
"""


@pytest.fixture(scope="module")
def library(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The mathematics folder as a library that stops the process on undefined behaviour."""
    driver = tmp_path_factory.mktemp("math") / "driver.c"
    driver.write_text(DRIVER)
    folder = repository / "c_runtime" / "math"
    sources = [*sorted(folder.glob("*.c")), driver]
    return ctypes.CDLL(str(build_host_library(sources, [folder], sanitize=True)))


def pointer(array: Floats) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def apply(library: ctypes.CDLL, name: str, *operands: Floats) -> Floats:
    """Return tvm_pulp_<name>(operands), element by element."""
    columns = [np.ascontiguousarray(operand, np.float32) for operand in operands]
    out = np.empty_like(columns[0])
    mapper = library.map_unary if len(columns) == 1 else library.map_binary
    function = ctypes.cast(library[f"tvm_pulp_{name}"], ctypes.c_void_p)
    mapper(function, *map(pointer, columns), pointer(out), ctypes.c_size_t(out.size))
    return out


def all_kinds_of_floats(step: int = 997) -> Floats:
    """Every `step`-th bit pattern (a prime, so that all exponents and mantissas are met) and the corner cases."""
    patterns = np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32)
    corners = [0, 1, 0x7FFFFF, 0x800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]
    halves = np.arange(-1024, 1024, dtype=np.float32) / np.float32(2)
    positive = np.array(corners, np.uint32).view(np.float32)
    return np.concatenate([patterns.view(np.float32), positive, -positive, halves, np.nextafter(halves, 0)])


def units_in_the_last_place(result: Floats, exact: Doubles) -> float:
    """Return the largest distance of result and exact value, in units of the float32 spacing at the exact value."""
    nearest = exact.astype(np.float32)
    special = ~np.isfinite(nearest)
    assert np.array_equal(result[special], nearest[special], equal_nan=True), "infinities and NaNs must agree"
    spacing = np.spacing(np.maximum(np.abs(nearest[~special]), np.finfo(np.float32).tiny)).astype(np.float64)
    return float(np.max(np.abs(result[~special].astype(np.float64) - exact[~special]) / spacing))


def error_function(x: Doubles) -> Doubles:
    return np.array([math.erf(value) for value in x.tolist()])


UNARY: dict[str, tuple[Callable[[Doubles], Doubles], tuple[float, float]]] = {
    "expf": (np.exp, (-104.0, 89.0)),
    "logf": (np.log, (0.25, 4.0)),
    "tanhf": (np.tanh, (-10.0, 10.0)),
    "erff": (error_function, (-4.1, 4.1)),
    "sinf": (np.sin, (-100.0, 100.0)),
    "cosf": (np.cos, (-100.0, 100.0)),
    "sqrtf": (np.sqrt, (0.0, 4.0)),
    "rsqrtf": (lambda x: 1.0 / np.sqrt(x), (0.0, 4.0)),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_are_within_two_units_in_the_last_place(library: ctypes.CDLL, name: str) -> None:
    reference, (low, high) = UNARY[name]
    step = 9973 if name == "erff" else 997  # Python computes the reference of erf one by one
    dense = np.linspace(low, high, 200_000, dtype=np.float64).astype(np.float32)
    x = np.concatenate([all_kinds_of_floats(step), dense])
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
        assert units_in_the_last_place(apply(library, name, x), exact) < 2.0


def test_square_root_is_correctly_rounded(library: ctypes.CDLL) -> None:
    x = all_kinds_of_floats(331)
    with np.errstate(invalid="ignore"):
        expected = np.sqrt(x)
    assert np.array_equal(apply(library, "sqrtf", x), expected, equal_nan=True)


def round_half_away(x: Doubles) -> Doubles:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("floorf", np.floor),
        ("ceilf", np.ceil),
        ("truncf", np.trunc),
        ("roundf", round_half_away),
        ("nearbyintf", np.rint),
        ("fabsf", np.abs),
    ],
)
def test_rounding_is_exact_down_to_the_sign_of_zero(
    library: ctypes.CDLL, name: str, reference: Callable[[Doubles], Doubles]
) -> None:
    x = all_kinds_of_floats()
    x = x[~np.isnan(x)]
    expected = reference(x.astype(np.float64)).astype(np.float32)
    assert np.array_equal(apply(library, name, x).view(np.uint32), expected.view(np.uint32))
    assert np.isnan(apply(library, name, np.array([np.nan], np.float32)))[0]


def pairs(count: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(7)
    x = generator.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    y = generator.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    corners = np.array([0.0, 1.0, 0.5, 2.0, 3.0, 1e-45, 1.1754944e-38, 3.4e38, 16777215.0, np.inf, np.nan], np.float32)
    corners = np.concatenate([corners, -corners])
    grid_x, grid_y = np.meshgrid(corners, corners)
    return np.concatenate([x, grid_x.ravel()]), np.concatenate([y, grid_y.ravel()])


def test_remainder_is_exact(library: ctypes.CDLL) -> None:
    x, y = pairs(50_000)
    with np.errstate(all="ignore"):
        near = np.concatenate([x, x]), np.concatenate([y, (x / np.float32(7.3)).astype(np.float32)])
        expected = np.fmod(*near)
    result = apply(library, "fmodf", *near)
    same = (result.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(result) & np.isnan(expected))
    assert same.all()


def test_floored_remainder_is_that_of_python(library: ctypes.CDLL) -> None:
    x, y = pairs(50_000)
    with np.errstate(all="ignore"):
        expected = np.mod(x, y)
    result = apply(library, "modulof", x, y)
    np.testing.assert_array_equal(result, expected)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(expected[zero]))


def test_angle_of_a_point(library: ctypes.CDLL) -> None:
    generator = np.random.default_rng(12)
    y, x = pairs(100_000)
    near = generator.normal(size=(2, 100_000)).astype(np.float32)
    y, x = np.concatenate([y, near[0], near[0]]), np.concatenate([x, near[1], near[0]])
    numbers = ~(np.isnan(x) | np.isnan(y))
    y, x = y[numbers], x[numbers]
    exact = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    result = apply(library, "atan2f", y, x)
    normal = ~(np.abs(exact) < 2.0**-126)
    assert units_in_the_last_place(result[normal], exact[normal]) <= 2
    np.testing.assert_array_equal(np.signbit(result[~normal]), np.signbit(exact[~normal]))
    np.testing.assert_allclose(result[~normal], exact[~normal], atol=2.0**-126)


def test_power_follows_the_standard_and_is_accurate(library: ctypes.CDLL) -> None:
    generator = np.random.default_rng(11)
    bases = np.exp(generator.uniform(-87, 88, 200_000))
    # Exponents that bring the result anywhere into the range of floats and a little beyond.
    exponents = generator.uniform(-106, 90, bases.size) / np.log(bases)
    near_one = 1.0 + generator.uniform(-1e-3, 1e-3, 50_000)
    x, y = pairs(100_000)
    whole = np.round(generator.uniform(-30, 30, 50_000))
    with np.errstate(all="ignore"):
        x = np.concatenate([x, bases, near_one, -generator.uniform(0.05, 20, whole.size)]).astype(np.float32)
        y = np.concatenate([y, exponents, generator.uniform(-8e4, 8e4, near_one.size), whole]).astype(np.float32)
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
        assert units_in_the_last_place(apply(library, "powf", x, y), exact) < 2.0


def test_no_function_needs_a_library_on_the_soft_float_core(repository: Path) -> None:
    """Objects for rv32imc may ask for arithmetic routines of the compiler, but never for libm."""
    from elftools.elf.elffile import ELFFile

    folder = repository / "c_runtime" / "math"
    defined: set[str] = set()
    needed: set[str] = set()
    compiler = zig_riscv_compiler(RISCV_ISAS["rv32imc"])
    for path in compile_objects(sorted(folder.glob("*.c")), [folder], [], compiler):
        with path.open("rb") as stream:
            for symbol in ELFFile(stream).get_section_by_name(".symtab").iter_symbols():
                (needed if symbol["st_shndx"] == "SHN_UNDEF" else defined).add(symbol.name)
    assert {name for name in needed - defined - {""} if not name.startswith("__")} == set()


@pytest.mark.parametrize("machine", ["host", "riscv"])
def test_sources_compile_without_a_warning(repository: Path, machine: str) -> None:
    compiler = host_compiler() if machine == "host" else zig_riscv_compiler(RISCV_ISAS["rv32imfc"])
    folders = [repository / "c_runtime" / "math", repository / "c_runtime" / "libc"]
    sources = [path for folder in folders for path in sorted(folder.glob("*.c"))]
    flags = ["-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Wdouble-promotion", "-Werror"]
    if machine == "riscv":
        flags[0] = "-std=gnu11"  # the square-root instruction is inline assembly
    assert len(compile_objects(sources, folders, flags, compiler)) == len(sources)
