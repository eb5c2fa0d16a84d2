"""Every operator's C equals its numpy reference on random shapes and attributes: bit for bit, floats to 1e-4."""

from pathlib import Path

import numpy as np
import pytest

from tests.qnn import (
    cases_along_axis,
    cases_attention,
    cases_elementwise,
    cases_float,
    cases_matrix,
    cases_movement,
    cases_rows,
    cases_windows,
)
from tests.qnn.kernel_batch import Batch, Case
from tvm_pulp.qnn import OPERATORS

GENERATORS = {
    **cases_along_axis.CASES,
    **cases_attention.CASES,
    **cases_elementwise.CASES,
    **cases_float.CASES,
    **cases_matrix.CASES,
    **cases_movement.CASES,
    **cases_rows.CASES,
    **cases_windows.CASES,
}
COUNT, SHARED_COUNT = 40, 8


def cases(operator: str, count: int, seed: int) -> list[Case]:
    rng = np.random.default_rng([seed, *operator.encode()])
    return [GENERATORS[operator](rng) for _ in range(count)]


def compare(result: np.ndarray, expected: np.ndarray, message: str) -> None:
    if expected.dtype == np.float32:
        # Sums cancel: what counts is the size of the terms, which is that of the largest result.
        least = 1e-6 * float(np.abs(expected, where=np.isfinite(expected), out=np.ones_like(expected)).max(initial=1))
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=least, err_msg=message)
    else:
        np.testing.assert_array_equal(result, expected, err_msg=message)


def test_every_operator_has_a_generator() -> None:
    assert set(GENERATORS) == set(OPERATORS)


@pytest.mark.sample(4)
@pytest.mark.parametrize("operator", OPERATORS)
def test_c_equals_the_reference(tmp_path: Path, operator: str) -> None:
    wanted = cases(operator, COUNT, 1)
    batch = Batch(wanted, tmp_path)
    for case in wanted:
        expected = case.expected()
        assert (expected.shape, str(expected.dtype)) == (case.output.shape, case.output.dtype), str(case)
        compare(batch.run(case), expected, str(case))


@pytest.mark.sample(6)
@pytest.mark.parametrize("operator", OPERATORS)
def test_cores_share_the_work(tmp_path: Path, operator: str) -> None:
    # The loop is split by rounding up: with more cores than iterations, the last ones have nothing to do.
    wanted = cases(operator, SHARED_COUNT, 2)
    batch = Batch(wanted, tmp_path, shared=True)
    for case in wanted:
        for cores in range(1, 9):
            compare(batch.run(case, cores), case.expected(), f"{cores} cores: {case}")
