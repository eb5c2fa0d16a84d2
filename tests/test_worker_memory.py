"""Processes that run tests stay small, also where tests fail, and say so where they do not."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import engine

from tests import worker_memory

REPOSITORY = Path(__file__).resolve().parent.parent
HOOKS = """
import sys
sys.path.insert(0, {root!r})
import tests.worker_memory
from tests.worker_memory import *
tests.worker_memory.MOST_MEGABYTES = {most}
"""
CASES = """
import weakref, pytest
kept = []
class Machine: pass
def test_that_fails():
    machine = Machine()
    kept.append(weakref.ref(machine))
    try:
        raise ValueError("no")
    except ValueError as error:
        machine.error = error  # which refers to this function, and so to the machine
        raise
def test_behind_it():
    assert kept[0]() is None
"""


def prepare(pytester: pytest.Pytester, cases: str, most: int) -> None:
    """Tests in a folder of their own, with a limit."""
    pytester.makeini("[pytest]\nmarkers = slow")
    pytester.makeconftest(HOOKS.format(root=str(REPOSITORY), most=most))
    pytester.makepyfile(cases)


def test_what_a_failure_held_is_gone_before_the_next_test(pytester: pytest.Pytester) -> None:
    prepare(pytester, CASES, worker_memory.MOST_MEGABYTES)
    # Apart: what looks at a run inside this process keeps its failures.
    pytester.runpytest_subprocess("-p", "no:xdist").assert_outcomes(failed=1, passed=1)


def check(result: pytest.RunResult, name: str, *, small: bool) -> None:
    result.assert_outcomes(passed=1)
    assert result.ret == (0 if small else pytest.ExitCode.TESTS_FAILED)
    line = f"peak memory: {name} * MB" if small else f"FAILED: more memory than 1 MB: {name} (peaks: {name} * MB)"
    result.stdout.fnmatch_lines([line])


@pytest.mark.parametrize("most", [1, worker_memory.MOST_MEGABYTES])
def test_a_process_that_grows_fails_the_default_run(
    most: int, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_memory, "MOST_MEGABYTES", most)
    prepare(pytester, "def test_small(): pass\n", most)
    check(pytester.runpytest_inprocess("-m", "not slow"), "this process", small=most > 1)
    # Larger networks are among the slow tests.
    check(pytester.runpytest_inprocess(), "this process", small=True)


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, worker_memory.MOST_MEGABYTES])
def test_workers_tell_their_peaks(most: int, pytester: pytest.Pytester) -> None:
    prepare(pytester, "def test_small(): pass\n", most)
    check(pytester.runpytest_subprocess("-n", "1", "-m", "not slow"), "gw0", small=most > 1)


def test_an_example_that_fails_is_made_smaller_for_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine.MAX_SHRINKING_SECONDS <= 10 and engine.MAX_SHRINKS <= 50, "tests/conftest.py limits both"
    monkeypatch.setattr(engine, "MAX_SHRINKING_SECONDS", 0.2)
    shrunk = 0.0

    @settings(database=None)
    @given(st.lists(st.integers(0, 1 << 30), min_size=20, max_size=20))
    def fails(values: list[int]) -> None:
        nonlocal shrunk
        shrunk += 0.02
        time.sleep(0.02)
        assert sum(values) < 1 << 20

    with pytest.raises(AssertionError):
        fails()
    assert shrunk < 5, "the limit counts"
