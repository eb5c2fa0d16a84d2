"""Progress of programs: a bar where a person looks, a callback, silence in pipes."""

import io
import sys
import types
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp import live_progress


class Terminal(io.StringIO):
    """A stream that says it is one, wide enough for every line."""

    def isatty(self) -> bool:
        return True


def terminal_for(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Errors go to a terminal from now on."""
    made = Terminal()
    for name, value in {"TERM": "xterm", "COLUMNS": "160", "LINES": "40"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", made)
    return made


def test_a_terminal_shows_stages_and_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    told: list[str] = []
    shown = live_progress._TerminalBar.show

    def heard(bar: Any, words: str, done: int, count: int | None) -> None:
        told.append(words)
        shown(bar, words, done, count)

    monkeypatch.setattr(live_progress._TerminalBar, "show", heard)
    app = tvm_pulp.compile("zoo:autoencoder", "uma-neureka", effort="fast")
    assert app.compilation is not None and app.compilation.plan.planner is not None
    planning = [line for line in told if line.startswith("planning 10 layers: ")]
    assert len(planning) >= app.compilation.plan.planner.attempts
    assert "plans tried, fastest about" in planning[-1]
    assert told[-1] == "emitting C"
    # It was drawn, and is gone.
    assert "\x1b[2K" in terminal.getvalue()


def test_pipes_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    app = tvm_pulp.compile("zoo:autoencoder")
    app.evaluate([np.zeros((2, 1, 640), np.int8)])
    assert capsys.readouterr() == ("", "")


def test_a_callback_hears_of_stages_and_samples() -> None:
    stages: list[str] = []
    done: list[tuple[int, int]] = []
    app = tvm_pulp.compile("zoo:autoencoder", progress=stages.append)
    app.evaluate([np.zeros((2, 1, 640), np.int8)], progress=lambda at, count: done.append((at, count)))
    assert stages[0] == "importing zoo:autoencoder" and stages[-1].startswith("emitting C")
    assert done[-1] == (2, 2)


def test_samples_fill_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    tvm_pulp.compile("zoo:autoencoder").evaluate([np.zeros((2, 1, 640), np.int8)])
    assert "2 of 2 samples" in terminal.getvalue()


def test_a_notebook_has_a_bar_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of it in the notebook is a comment."""
    display = pytest.importorskip("IPython.display")
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    states: list[str] = []
    handle = types.SimpleNamespace(update=lambda made: states.append(made.data))
    monkeypatch.setattr(display, "display", lambda made, display_id: states.append(made.data) or handle)
    assert live_progress.in_notebook()
    tvm_pulp.compile("zoo:autoencoder").evaluate([np.zeros((2, 1, 640), np.int8)])
    assert any("loading the compiler" in state for state in states)
    assert any('value="2" max="2"' in state and "2 of 2 samples" in state for state in states)
    assert states[-1] == live_progress.NOTEBOOK_MARK
    shell.kernel = None
    assert not live_progress.in_notebook()


def test_less_effort_is_a_plan_of_the_rules() -> None:
    """No solver, fewer plans, the same numbers, never faster than a search."""
    apps = [tvm_pulp.compile("zoo:dscnn", "uma-neureka", effort=effort) for effort in ("rough", "fast", "best")]
    plans = [app.compilation.plan for app in apps if app.compilation is not None]
    planners = [plan.planner for plan in plans if plan.planner is not None]
    assert [planner.status is None for planner in planners] == [True, True, False]
    assert planners[0].attempts == 2 < planners[1].attempts < planners[2].attempts
    assert plans[0].estimated_cycles >= plans[1].estimated_cycles >= plans[2].estimated_cycles
    given = [np.random.default_rng(0).integers(-128, 128, (1, 1, 49, 10), np.int8)]
    np.testing.assert_array_equal(apps[0].run(given).outputs["logits"], apps[2].run(given).outputs["logits"])


def test_effort_needs_a_search() -> None:
    with pytest.raises(tvm_pulp.errors.UserError, match="--effort has no effect on --planner greedy"):
        tvm_pulp.compile("zoo:dscnn", "uma-neureka", planner="greedy", effort="fast")
    with pytest.raises(tvm_pulp.errors.UserError, match="--effort 'slow' is unknown: choose best, fast or rough"):
        tvm_pulp.compile("zoo:dscnn", "uma-neureka", effort="slow")
