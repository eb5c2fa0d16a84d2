"""ONNX's own tests of operators: every case is right, or refused with a reason that the documentation states."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx.backend.test.runner import Runner

from tests.onnx_backend.cases import FOLDERS, cases_of, data_of, operator_files, stored_cases
from tests.onnx_backend.documented import exceptions, reason_of
from tvm_pulp import onnx_backend
from tvm_pulp.errors import UserError


@pytest.mark.sample(4)
@pytest.mark.parametrize("file", operator_files())
def test_cases_of_an_operator(file: str) -> None:
    assert problems(cases_of(file)) == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_cases_that_are_files(folder: str) -> None:
    cases = list(stored_cases(folder))
    assert cases
    assert problems(cases) == []


def problems(cases: Iterable[Any]) -> list[str]:
    """What is wrong with cases, in lines."""
    found = ((case.name, problem(case)) for case in cases)
    return [f"{name}: {why}" for name, why in found if why is not None]


def problem(case: Any) -> str | None:
    """What is wrong with a case: an error that is no refusal, a reason that is not documented, a wrong result."""
    try:
        prepared = onnx_backend.prepare(case.model)
        results = [(given, prepared.run(given), wanted) for given, wanted in data_of(case)]
    except UserError as error:
        return None if reason_of(str(error)) else f"refused for a reason that is not documented: {error}"
    except Exception as error:  # whatever is not a refusal
        return f"{type(error).__name__}: {error}"
    for given, made, wanted in results:
        try:
            wanted = excepted(case, given, made) if case.name in exceptions() else wanted
            compare(made, wanted, case)
        except AssertionError as error:
            return str(error)
    return None


def compare(made: Any, wanted: Any, case: Any) -> None:
    """As ONNX's runner compares; its tolerances are not for integers."""
    Runner.assert_similar_outputs(wanted, made, rtol=case.rtol, atol=case.atol)
    for a, b in zip(made, wanted, strict=True):
        if b.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)


def excepted(case: Any, given: list[np.ndarray], made: Any) -> list[np.ndarray]:
    """What onnxruntime makes of a case, with the rows that a fixed size adds."""
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), given, strict=True)})
    missing = [len(m) - len(w) if case.name.startswith("test_nonmax") else 0 for m, w in zip(made, wanted, strict=True)]
    return [np.pad(w, [(0, n), (0, 0)], constant_values=-1) if n else w for n, w in zip(missing, wanted, strict=True)]
