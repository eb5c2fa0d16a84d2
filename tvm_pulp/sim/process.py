"""Run another simulator as a process: its text, a time limit, and one sentence when it does not end well."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError, refuse_if

_SHOWN_LINES, _SHOWN_CHARACTERS = 3, 300
_LEAST_SECONDS = 120.0


@dataclass(frozen=True)
class Finished:
    """A process that ended by itself."""

    text: str
    """The text that it wrote to stdout and stderr."""
    status: int
    seconds: float


def run_simulator(
    name: str, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], limit_seconds: float
) -> Finished:
    """Run to the end; a user error with the last lines when it takes longer than the limit or cannot be started."""
    started = time.perf_counter()
    try:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise UserError(f"{name} cannot be started: {command[0]}: {error.strerror}; check the installation") from None
    try:
        text, _ = process.communicate(timeout=limit_seconds)
    except subprocess.TimeoutExpired:
        # The launcher has children; all of them are in the session that it leads.
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        raise UserError(
            f"{name} did not end within {limit_seconds:g} s{last_lines(text)}: give it more with "
            "--device-option timeout_s=SECONDS, or look at the program with --device iss"
        ) from None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return Finished(text, process.returncode, time.perf_counter() - started)


def expected_cycles(facts: Mapping[str, Any]) -> int:
    """Cycles of an inference as the compiler estimates them; 0 where it does not."""
    return sum(layer.get("estimated_cycles") or 0 for layer in facts.get("layers", []))


def limit_seconds(settings: Mapping[str, str], facts: Mapping[str, Any], cycles_per_second: float) -> float:
    """Option `timeout_s`, else far more than a simulator of that speed needs for what the compiler expects."""
    given = settings.get("timeout_s")
    if given is None:
        return _LEAST_SECONDS + 2 * expected_cycles(facts) / cycles_per_second
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    refuse_if(not 0 < seconds < float("inf"), f"--device-option timeout_s={given}: give a number of seconds above 0")
    return seconds


def last_lines(text: str) -> str:
    """`; its last lines: ...`, or nothing where it said nothing."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip() and not line.startswith("data ")]
    shown = " | ".join(lines[-_SHOWN_LINES:])
    return f"; its last lines: {shown[-_SHOWN_CHARACTERS:]}" if shown else ""
