"""Kernels of cores that share a multiplier: random shapes against plain C, and all pairs of extreme bytes."""

import itertools

import numpy as np
import pytest

from schedules.kernel_cycles.coefficients import COEFFICIENTS
from tests.kernels.call import run_on_cluster, run_on_host
from tests.kernels.fit_cycles import errors, samples
from tests.kernels.matrix_cases import dense_case
from tests.kernels.pair_cases import add_pairs_case
from tests.kernels.random_requant import KINDS
from tests.kernels.row_cases import layer_norm_case
from tvm_pulp.soc import load

FAMILY = "rv32im"


@pytest.mark.sample(9)
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


@pytest.mark.parametrize("form", ["alone", "kept", "scaled", "twice"])
@pytest.mark.parametrize("seed", range(4))
def test_add_pairs(form: str, seed: int) -> None:
    """Rows of whole words, rows that begin anywhere, one long row, one row for all."""
    rng = np.random.default_rng(10 * seed + len(form))
    rows, columns = (
        (int(rng.integers(2, 9)), 4 * int(rng.integers(1, 9))) if seed < 2 else (1, int(rng.integers(1, 70)))
    )
    case = add_pairs_case(
        rng,
        rows,
        columns - (seed == 1),
        form,
        per_channel=seed != 2,
        dtype=str(rng.choice(["int8", "uint8"])),
        misalign=int(rng.integers(4)) if seed == 3 else 0,
        broadcast=seed == 1,
    )
    np.testing.assert_array_equal(run_on_host(case.call), case.expected)
    for cores in (1, 3, 8):
        np.testing.assert_array_equal(run_on_cluster(case.call, cores, folder=FAMILY).output, case.expected)


def test_sums_are_fast() -> None:
    """A residual with a multiplier per column: a core needs no more than 17 cycles per byte."""
    case = add_pairs_case(np.random.default_rng(4), 128, 128, "scaled", rare=True)
    assert run_on_cluster(case.call, 8, folder=FAMILY).cycles < 17 * 128 * 128 / 8


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("columns", [1, 7, 24, 130, 384])
def test_layer_norm(dtype: str, columns: int) -> None:
    rng = np.random.default_rng(columns)
    case = layer_norm_case(rng, int(rng.integers(1, 12)), columns, dtype=dtype, misalign=columns % 3)
    for cores in (1, 3, 8):
        np.testing.assert_array_equal(run_on_cluster(case.call, cores, folder=FAMILY).output, case.expected)


def test_a_layer_norm_beyond_32_bits() -> None:
    case = layer_norm_case(np.random.default_rng(5), 5, 9, wide=True, levels=1024)
    np.testing.assert_array_equal(run_on_cluster(case.call, 8, folder=FAMILY).output, case.expected)


@pytest.mark.parametrize("kernel", ["dense", "depthwise_conv2d", "add_pairs", "layer_norm"])
def test_the_cost_model_stays_near_the_simulator(kernel: str) -> None:
    soc = load("snitch-ita")
    stated = COEFFICIENTS[soc.software.core_type][kernel]
    found = np.abs(errors(stated.cycles, list(samples(kernel, 3, 24, soc))))
    assert np.median(found) <= 1.5 * stated.median_error + 0.04
