"""Memory of the processes that run tests: told at the end, and limited in the default run."""

import gc
import resource
import sys
from typing import Any

import pytest

# The default run leaves room for two workers and a browser on a small machine.
MOST_MEGABYTES = 3000
_DEFAULT_MARKS = "not slow"
_PEAK = "peak_megabytes"
_PEAKS = pytest.StashKey[dict[str, float]]()
# Tests of this process that failed and whose ends are not told yet.
_FAILED: set[str] = set()


def peak_megabytes() -> float:
    """The most memory that this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what failed here."""
    if report.failed:
        _FAILED.add(report.nodeid)


def pytest_runtest_logfinish(nodeid: str) -> None:
    """A failure holds the variables of all functions that it came through, in cycles: they are not kept for others."""
    if nodeid in _FAILED:
        _FAILED.discard(nodeid)
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            if hasattr(sys, name):
                delattr(sys, name)
        gc.collect()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells its peak; the process that people look at fails where one is too large."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_PEAK] = peak_megabytes()
        return
    peaks = session.config.stash.setdefault(_PEAKS, {}) or {"this process": peak_megabytes()}
    session.config.stash[_PEAKS] = peaks
    if _too_large(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker has ended; one that crashed tells nothing."""
    peak = getattr(node, "workeroutput", {}).get(_PEAK)
    if peak is not None:
        node.config.stash.setdefault(_PEAKS, {})[node.gateway.id] = peak


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line about all of them."""
    peaks = config.stash.get(_PEAKS, {})
    told = ", ".join(f"{name} {peak:.0f} MB" for name, peak in sorted(peaks.items()))
    if _too_large(config):
        text = f"FAILED: more memory than {MOST_MEGABYTES} MB: {', '.join(_too_large(config))} (peaks: {told})"
        terminalreporter.write_line(text, red=True)
    else:
        terminalreporter.write_line(f"peak memory: {told}")


def _too_large(config: pytest.Config) -> list[str]:
    """Processes of a default run that had more memory than they may."""
    peaks = config.stash.get(_PEAKS, {})
    is_default = config.getoption("markexpr", "") == _DEFAULT_MARKS
    return [name for name, peak in sorted(peaks.items()) if is_default and peak > MOST_MEGABYTES]
