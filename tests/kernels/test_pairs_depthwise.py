"""Depthwise windows of cores that share a multiplier: random calls, and bytes that fill every product."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.kernels.call import run_on_cluster
from tests.kernels.matrix_cases import Case, Window, depthwise_case
from tests.kernels.random_requant import KINDS

FAMILY = "rv32im"
# Triples of columns, with one and two columns left, and none; strides and gaps; images narrower than a window.
WINDOWS = [
    Window(),
    Window((5, 5), pads=(2, 2, 2, 2)),
    Window((7, 7), pads=(3, 3, 3, 3)),
    Window((1, 9), pads=(0, 4, 0, 4)),
    Window((9, 1), pads=(4, 0, 4, 0)),
    Window((4, 6), pads=(1, 4, 2, 0)),
    Window((1, 1), pads=(0, 0, 0, 0)),
    Window((3, 3), (2, 2), (1, 1), (0, 0, 1, 1)),
    Window((5, 5), (2, 2), (1, 1), (2, 2, 2, 2)),
    Window((3, 3), (1, 1), (2, 2), (2, 2, 2, 2)),
    Window((2, 5), (3, 3), (1, 2), (0, 4, 0, 4)),
    Window((2, 3), (5, 6), (1, 1), (1, 3, 2, 9)),
]


def check(case: Case, cores: int) -> None:
    np.testing.assert_array_equal(run_on_cluster(case.call, cores, folder=FAMILY).output, case.expected)


@pytest.mark.sample(8)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_depthwise_conv2d(kind: str, window: Window) -> None:
    seed = 100 * WINDOWS.index(window) + KINDS.index(kind)
    for cores in (1, 3, 8):
        rng = np.random.default_rng(seed + cores)
        size = tuple(int(rng.integers(low, high)) for low, high in ((4, 12), (4, 12), (1, 7)))
        dtype, multiplier = str(rng.choice(["int8", "uint8"])), int(rng.integers(1, 3))
        more: dict[str, Any] = {"zero_point": -5 if dtype == "int8" else 200, "turned": bool(rng.integers(2))}
        rows, misalign = int(rng.integers(14)), int(rng.integers(4))
        check(
            depthwise_case(
                rng, size, window, kind, dtype=dtype, multiplier=multiplier, plane_rows=rows, misalign=misalign, **more
            ),
            cores,
        )


@pytest.mark.sample(4)
@pytest.mark.parametrize(("value", "weight"), list(itertools.product((-128, -1, 0, 127), repeat=2)))
def test_extreme_products_stay_apart(value: int, weight: int) -> None:
    """Sums of two products fill sixteen bits, and their neighbours borrow: in no combination does either show."""
    for window in (Window((5, 5), pads=(2, 2, 2, 2)), Window((3, 4), (2, 2))):
        rng = np.random.default_rng(1)
        case = depthwise_case(rng, (6, 7, 3), window, "none", zero_point=127 if value < 0 else -128)
        fields = dict(case.call.arguments)
        # Every other byte is the extreme one of the other sign.
        other = np.where(np.arange(fields["x"].size) % 3 == 2, -1 - value, value).astype(np.int8)
        fields["x"] = other.reshape(fields["x"].shape)
        filters = fields["weight"].copy()
        filters[..., : window.kernel[1]] = weight
        fields["weight"] = filters
        padded = np.full((6 + 10, 7 + 10, 3), fields["pad_value"], np.int64)
        padded[5:11, 5:12] = fields["x"][0]
        expected = np.empty(case.expected.shape, np.int64)
        top, left = 5 - window.pads[0], 5 - window.pads[1]
        for _, oy, ox, c in np.ndindex(*expected.shape):
            y, x = top + oy * window.strides[0], left + ox * window.strides[1]
            part = padded[y : y + window.kernel[0], x : x + window.kernel[1], c]
            expected[0, oy, ox, c] = weight * part.sum() + fields["bias"][c]
        check(replace(case, call=replace(case.call, arguments=fields), expected=expected.astype(np.int32)), 8)


@pytest.mark.parametrize(("kernel", "macs_per_cycle"), [(3, 0.95), (5, 1.3), (7, 1.45)])
def test_windows_are_fast(kernel: int, macs_per_cycle: float) -> None:
    """Sums alone. A product at a time would allow 1 MAC a cycle; generated loops reach 0.4 to 0.6."""
    window = Window((kernel, kernel), pads=(kernel // 2,) * 4)
    case = depthwise_case(np.random.default_rng(2), (16, 32, 16), window, "none", plane_rows=15 + kernel)
    assert case.work / run_on_cluster(case.call, 8, folder=FAMILY).cycles >= macs_per_cycle
