"""Kernels of cores that share a multiplier: random shapes against plain C, and all pairs of extreme bytes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from schedules.kernel_cycles.coefficients import COEFFICIENTS
from tests.kernels.call import run_on_cluster, run_on_host
from tests.kernels.fit_cycles import errors, samples
from tests.kernels.matrix_cases import dense_case
from tests.kernels.random_requant import KINDS
from tvm_pulp.soc import load

FAMILY = "rv32im"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_dense(kind: str, seed: int) -> None:
    rng = np.random.default_rng(100 * seed + KINDS.index(kind))
    rows, columns, depth = (int(rng.integers(1, high)) for high in (9, 19, 46))
    dtype, offset = str(rng.choice(["int8", "uint8"])), int(rng.choice([0, 0, 37, -128]))
    case = dense_case(
        rng,
        rows,
        columns,
        depth,
        kind,
        dtype=dtype,
        misalign=int(rng.integers(4)),
        offset=offset,
        per_channel=bool(seed),
    )
    expected = run_on_host(case.call)
    for cores in (1, 3, 8):
        np.testing.assert_array_equal(run_on_cluster(case.call, cores, folder=FAMILY).output, expected)


@pytest.mark.parametrize(("value", "weight"), list(itertools.product((-128, -1, 0, 127), repeat=2)))
def test_extreme_products_stay_apart(value: int, weight: int) -> None:
    """Sums of two products fill sixteen bits, and their neighbours borrow: in no combination does either show."""
    rng = np.random.default_rng(1)
    case = dense_case(rng, 2, 4, 16, "none")
    arguments = dict(case.call.arguments)
    arguments["x"] = np.full_like(arguments["x"], value)
    arguments["weight"] = np.full_like(arguments["weight"], weight)
    call = type(case.call)(case.call.kernel, arguments)
    np.testing.assert_array_equal(run_on_cluster(call, 8, folder=FAMILY).output, run_on_host(call))


def test_the_cost_model_stays_near_the_simulator() -> None:
    soc = load("snitch-ita")
    stated = COEFFICIENTS[soc.software.core_type]["dense"]
    found = np.abs(errors(stated.cycles, list(samples("dense", 3, 24, soc))))
    assert np.median(found) <= 1.5 * stated.median_error + 0.04
