"""Speed that the kernels must keep: simulated cycles of preset `siracusa`, eight cores, data in L1, second call."""

import statistics
from collections.abc import Callable

import numpy as np
import pytest

from tests.kernels.attention_cases import attention_case
from tests.kernels.call import run_on_cluster
from tests.kernels.elementwise_cases import add_case, gelu_case, hardswish_case, linear_sum_case
from tests.kernels.fit_cycles import typical
from tests.kernels.matrix_cases import (
    Case,
    Window,
    conv2d_case,
    dense_case,
    depthwise_case,
    small_depthwise_case,
)
from tests.kernels.row_cases import i_softmax_case, rms_norm_case

Maker = Callable[[np.random.Generator], Case]
POINTWISE = Window((1, 1), pads=(0, 0, 0, 0))
# The position of the data alone moves cycles by some per cent.
PLACEMENTS = (0, 20, 44)

MACS_PER_CYCLE: list[tuple[Maker, float]] = [
    (lambda r: dense_case(r, 64, 64, 64), 15.3),
    (lambda r: dense_case(r, 128, 128, 128), 17),
    (lambda r: dense_case(r, 1, 64, 256), 9),
    (lambda r: conv2d_case(r, (16, 16, 32), 32, Window()), 13),
    (lambda r: conv2d_case(r, (8, 8, 64), 64, POINTWISE), 14),
    (lambda r: depthwise_case(r, (16, 16, 64), Window(), plane_rows=18), 4),
    (lambda r: depthwise_case(r, (16, 16, 64), Window((5, 5), pads=(2,) * 4), plane_rows=12), 5.5),
    (lambda r: depthwise_case(r, (8, 8, 128), Window((7, 7), pads=(3,) * 4), plane_rows=14), 7.4),
    (lambda r: small_depthwise_case(r, (4, 4, 256), Window((5, 5), pads=(2,) * 4)), 7),
]
INSTRUCTIONS_PER_ELEMENT: list[tuple[Maker, float]] = [
    (lambda r: i_softmax_case(r, 64, 64), 22),
    (lambda r: rms_norm_case(r, 64, 64), 12),
    (lambda r: gelu_case(r, 1, 4096), 18),
    (lambda r: hardswish_case(r, 1, 4096), 14),
    (lambda r: add_case(r, 1, 4096), 9),
    (lambda r: linear_sum_case(r, 1, 4096), 7.1),
]


def make_typical(make: Maker) -> Case:
    rng = np.random.default_rng(5)
    case = make(rng)
    while not typical(case):
        case = make(rng)
    return case


def median_cycles(case: Case) -> float:
    results = [run_on_cluster(case.call, offset=offset) for offset in PLACEMENTS]
    assert all(np.array_equal(r.output, case.expected) for r in results)
    return statistics.median(r.cycles for r in results)


@pytest.mark.parametrize(("make", "target"), MACS_PER_CYCLE)
def test_macs_per_cycle(make: Maker, target: float) -> None:
    case = make_typical(make)
    assert case.work / median_cycles(case) >= target


@pytest.mark.parametrize(("make", "limit"), INSTRUCTIONS_PER_ELEMENT)
def test_instructions_per_element(make: Maker, limit: float) -> None:
    case = make_typical(make)
    result = run_on_cluster(case.call)
    assert np.array_equal(result.output, case.expected)
    assert case.work == 4096 and result.instructions / case.work <= limit


def test_attention_of_sixteen_small_heads() -> None:
    """Requantization, mask, softmax and the product with v: at most 22 cycles per logit and core."""
    case = make_typical(lambda r: attention_case(r, 16, 64, 64, 4))
    assert 8 * median_cycles(case) / case.work <= 22
