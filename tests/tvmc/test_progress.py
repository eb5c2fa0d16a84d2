"""Progress: stages in lines, plans that are tried in a line that lives on a terminal."""

import io
import time

import pytest

from tvm_pulp import api
from tvm_pulp.planning.search import watch_plans
from tvm_pulp.tvmc import progress
from tvm_pulp.tvmc.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def plan_something() -> None:
    assert api.Compilation("zoo:autoencoder", api.CompileOptions(target="c", soc="siracusa", planner="greedy")).plan


def test_every_plan_is_shown_to_who_watches() -> None:
    seen: list[int] = []
    with watch_plans(lambda plan: seen.append(plan.estimated_cycles)):
        plan_something()
    assert seen and all(cycles > 0 for cycles in seen)
    count = len(seen)
    plan_something()
    assert len(seen) == count


def test_a_terminal_sees_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_SECONDS", 0.01)
    stream = Terminal()
    with Progress("plan", stream=stream) as shown:
        shown("planning 10 layers")
        plan_something()
        time.sleep(0.1)
    text = stream.getvalue()
    assert "tvmc plan: planning 10 layers\n" in text
    line = text.split("\r\033[K")[-2]
    assert " plans tried, fastest about " in line and " cycles" in line and len(line) < 80
    # The line is gone in the end.
    assert text.endswith("\r\033[K")


@pytest.mark.parametrize("quiet", [True, False])
def test_a_file_sees_stages_only(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.0)
    stream = io.StringIO()
    with Progress("plan", stream=stream, quiet=quiet) as shown:
        shown("planning 10 layers")
        plan_something()
    assert stream.getvalue() == ("" if quiet else "tvmc plan: planning 10 layers\n")
