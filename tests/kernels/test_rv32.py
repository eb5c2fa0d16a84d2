"""Kernels of a core by itself: random calls against what the dialect defines."""

import numpy as np
import pytest

from tests.kernels.call import run_on_cluster
from tests.kernels.elementwise_cases import add_case, linear_sum_case, requantize_case
from tests.kernels.matrix_cases import Case, Window, conv2d_case, dense_case, depthwise_case
from tests.kernels.movement_cases import transpose_case
from tests.kernels.random_requant import KINDS, Rule
from tvm_pulp.qnn.requant import Requant

FAMILY = "rv32"
SIZES = [(1, 1, 3), (5, 4, 9), (8, 16, 1), (7, 19, 33), (4, 3, 12)]


def check(case: Case) -> None:
    np.testing.assert_array_equal(run_on_cluster(case.call, 1, folder=FAMILY).output, case.expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(len(SIZES)))
def test_dense(kind: str, seed: int) -> None:
    rng = np.random.default_rng(100 * seed + KINDS.index(kind))
    dtype, offset = str(rng.choice(["int8", "uint8"])), int(rng.choice([0, 0, 37, -128]))
    more = {"misalign": int(rng.integers(4)), "offset": offset, "per_channel": bool(seed % 3)}
    check(dense_case(rng, *SIZES[seed], kind, dtype=dtype, **more))


WINDOWS = [
    Window(),
    Window((1, 1), (2, 2), (1, 1), (0, 0, 0, 0)),
    Window((10, 4), (2, 2), (1, 1), (4, 1, 5, 1)),
    Window((3, 3), (2, 2), (1, 1), (0, 0, 1, 1)),
    Window((2, 3), (1, 2), (2, 2), (2, 0, 0, 3)),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_conv2d(kind: str, window: Window) -> None:
    rng = np.random.default_rng(100 * WINDOWS.index(window) + KINDS.index(kind))
    size = tuple(int(rng.integers(low, high)) for low, high in ((6, 11), (5, 9), (1, 6)))
    dtype, offset = str(rng.choice(["int8", "uint8"])), int(rng.choice([0, 0, 37]))
    check(conv2d_case(rng, size, int(rng.integers(1, 10)), window, kind, dtype=dtype, zero_point=3, offset=offset))


DEPTHWISE = [
    Window(),
    Window((3, 3), (2, 2), (1, 1), (1, 1, 1, 1)),
    Window((3, 3), (2, 2), (1, 1), (0, 0, 1, 1)),
    Window((3, 3), (1, 2), (1, 1), (0, 0, 0, 0)),
    Window((3, 3), (1, 1), (1, 1), (2, 0, 2, 3)),
    Window((5, 3), (1, 1), (1, 1), (2, 1, 2, 1)),
    Window((3, 3), (1, 1), (2, 2), (2, 2, 2, 2)),
    Window((7, 7), (1, 1), (1, 1), (3, 3, 3, 3)),
    Window((5, 5), (2, 2), (1, 1), (2, 2, 2, 2)),
    Window((2, 7), (1, 2), (1, 1), (0, 3, 0, 3)),
    Window((3, 9), (1, 1), (2, 1), (2, 4, 2, 4)),
    Window((2, 9), (2, 2), (1, 1), (1, 4, 1, 4)),
    Window((1, 5), (3, 3), (1, 2), (0, 4, 0, 4)),
    Window((4, 1), (2, 1), (3, 1), (5, 0, 5, 0)),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", DEPTHWISE, ids=str)
def test_depthwise_conv2d(kind: str, window: Window) -> None:
    rng = np.random.default_rng(100 * DEPTHWISE.index(window) + KINDS.index(kind))
    for low in (5, 7):
        size = tuple(int(rng.integers(least, least + 4)) for least in (low, low, 2))
        dtype = str(rng.choice(["int8", "uint8"]))
        other = {"zero_point": -5 if dtype == "int8" else 5, "turned": low == 7, "plane_rows": int(rng.integers(12))}
        check(depthwise_case(rng, size, window, kind, dtype=dtype, multiplier=int(rng.integers(1, 4)), **other))


@pytest.mark.parametrize("form", ["plain", "inner", "one", "tflite"])
@pytest.mark.parametrize("types", [("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("uint8", "uint8")])
def test_add(form: str, types: tuple[str, str]) -> None:
    rng = np.random.default_rng(types.count("int8"))
    for rows, columns, broadcast in ((1, 5, False), (3, 8, False), (4, 7, True)):
        check(add_case(rng, rows, columns, form=form, types=types, broadcast=broadcast))
        check(linear_sum_case(rng, rows, columns, types))
    if form != "tflite":
        check(add_case(rng, 2, 9, form=form, types=types, by_table=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axis", [0, 1])
def test_requantize(kind: str, axis: int) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for dtype, per_channel in (("int32", True), ("int32", False), ("int8", True)):
        check(requantize_case(rng, 5, 13, kind, dtype=dtype, axis=axis, per_channel=per_channel))


@pytest.mark.parametrize("shape", [(8, 12), (5, 3), (1, 7), (4, 9), (13, 4)])
def test_transpose(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    for planes in (1, 3):
        check(transpose_case(rng, (1, planes, *shape), (0, 1, 3, 2)))
    check(transpose_case(rng, (2, *shape, 3), (0, 2, 1, 3)))


def test_halves_are_rounded_away_from_zero() -> None:
    """Multipliers that are powers of two leave halves; with a range above the zero point as with one around it."""
    rng, columns = np.random.default_rng(3), 64
    mul = rng.choice([1 << 30, (1 << 30) + 1, (1 << 31) - 1], columns).astype(np.int32)
    right = rng.integers(1, 21, columns).astype(np.int32)
    for zero_point, low in ((-128, -128), (3, -128), (-7, -100)):
        rule = Rule(Requant("tflite", 0, zero_point, low, 127), (mul, -right))
        check(dense_case(rng, 6, columns, 4, rule=rule))
