"""Runs `tvmc` inside this process, as fast as a function call, and keeps what it said."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tvm_pulp.tvmc.main import main


@dataclass(frozen=True)
class Finished:
    """Exit status and everything written."""

    status: int
    out: str
    err: str


def tvmc(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Finished:
    """Run one command; anything but a user error propagates."""
    capsys.readouterr()
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return Finished(status, captured.out, captured.err)


def check_refused(finished: Finished, words: Sequence[str], verb: str) -> None:
    """A user error: status 2, one sentence on stderr that names the words, nothing on stdout."""
    assert finished.status == 2, finished
    lines = [
        line for line in finished.err.splitlines() if not line.startswith((f"tvmc {verb}: loading", "tvmc run: b"))
    ]
    lines = [line for line in lines if not line.startswith(f"tvmc {verb}: importing")]
    assert len(lines) == 1 and lines[0].startswith(f"tvmc {verb}: "), finished.err
    for word in words:
        assert word in lines[0], lines[0]
    assert "Traceback" not in finished.err and finished.out == ""
