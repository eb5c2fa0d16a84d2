"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import engine

from tests.worker_memory import pytest_runtest_logfinish as pytest_runtest_logfinish
from tests.worker_memory import pytest_runtest_logreport as pytest_runtest_logreport
from tests.worker_memory import pytest_sessionfinish as pytest_sessionfinish
from tests.worker_memory import pytest_terminal_summary as pytest_terminal_summary
from tests.worker_memory import pytest_testnodedown as pytest_testnodedown
from tvm_pulp.sim.iss.runner import IssRunner

REPOSITORY = Path(__file__).resolve().parent.parent

# Same examples in every run, so that a failure is a change of the code; no deadline, because machines differ. What a
# failure has to do with which lines is not searched for: that runs every example once more, slowly.
settings.register_profile(
    "reproducible", derandomize=True, deadline=None, phases=[phase for phase in Phase if phase is not Phase.explain]
)
settings.load_profile("reproducible")
# An example that fails is made smaller for so many seconds and not for minutes, and in so many steps.
engine.MAX_SHRINKING_SECONDS, engine.MAX_SHRINKS = 10, 50


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test with the mark `sample(n)`, n that are not slow anyway stay so, evenly spread."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample") and not item.get_closest_marker("slow"):
            cases.setdefault((item.path, item.nodeid.partition("[")[0]), []).append(item)
    for family in cases.values():
        mark = family[0].get_closest_marker("sample")
        assert mark is not None
        (count,) = mark.args
        chosen = {index * len(family) // count for index in range(count)}
        for index, item in enumerate(family):
            if index not in chosen and len(family) > count:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def checked_reads() -> None:
    """No simulated network may read bytes that nobody wrote."""
    IssRunner.reads_are_checked = True


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the source tree."""
    return REPOSITORY


@pytest.fixture(scope="session")
def golden_data() -> Path:
    """Folder with golden networks and vectors; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("TVM_PULP_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"golden data not found at {folder}: set TVM_PULP_DATA to its folder")
    return folder
