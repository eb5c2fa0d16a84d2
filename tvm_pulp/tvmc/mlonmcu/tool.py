"""Stages run in processes of their own: MLonMCU's parallel runs are threads, and TVM has state of the process."""

import subprocess
import sys
from collections.abc import Sequence

# What a finished process says besides progress.
_TRACEBACK = "Traceback (most recent call last):"


class StageFailed(Exception):
    """A stage of a run failed, in one sentence: the reason in the report."""


def run_tool(module: str, arguments: Sequence[str]) -> str:
    """Run a module of the package and return what it says; StageFailed with its last sentence when it fails."""
    # -P: the folder that the user is in holds no modules of ours.
    command = [sys.executable, "-P", "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise StageFailed(_sentence(done.stderr, module, done.returncode))
    return done.stdout + done.stderr


def _sentence(stderr: str, module: str, status: int) -> str:
    """The last line that is not empty; a crash is a bug of ours, which the whole text helps to find."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if not lines:
        return f"{module} ended with status {status} and said nothing"
    if _TRACEBACK in stderr:
        return f"{lines[-1]} (a bug: please report it with this output)\n{stderr}"
    return lines[-1]
