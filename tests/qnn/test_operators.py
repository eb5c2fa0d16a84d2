"""Every operator's C equals its numpy reference bit for bit on random shapes and attributes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.qnn import cases_attention, cases_elementwise, cases_matrix, cases_movement, cases_rows, cases_windows
from tests.qnn.kernel_batch import Batch, Case
from tvm_pulp.qnn import OPERATORS

GENERATORS = {
    **cases_attention.CASES,
    **cases_elementwise.CASES,
    **cases_matrix.CASES,
    **cases_movement.CASES,
    **cases_rows.CASES,
    **cases_windows.CASES,
}
COUNT, SHARED_COUNT = 40, 8


def cases(operator: str, count: int, seed: int) -> list[Case]:
    rng = np.random.default_rng([seed, *operator.encode()])
    return [GENERATORS[operator](rng) for _ in range(count)]


def test_every_operator_has_a_generator() -> None:
    assert set(GENERATORS) == set(OPERATORS)


@pytest.mark.parametrize("operator", OPERATORS)
def test_c_equals_the_reference(tmp_path: Path, operator: str) -> None:
    wanted = cases(operator, COUNT, 1)
    batch = Batch(wanted, tmp_path)
    for case in wanted:
        expected = case.expected()
        assert (expected.shape, str(expected.dtype)) == (case.output.shape, case.output.dtype), str(case)
        np.testing.assert_array_equal(batch.run(case), expected, err_msg=str(case))


@pytest.mark.parametrize("operator", OPERATORS)
def test_cores_share_the_work(tmp_path: Path, operator: str) -> None:
    # The loop is split by rounding up: with more cores than iterations, the last ones have nothing to do.
    wanted = cases(operator, SHARED_COUNT, 2)
    batch = Batch(wanted, tmp_path, shared=True)
    for case in wanted:
        for cores in range(1, 9):
            np.testing.assert_array_equal(batch.run(case, cores), case.expected(), err_msg=f"{cores} cores: {case}")
