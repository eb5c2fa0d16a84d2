"""Stages run in processes of their own: MLonMCU's parallel runs are threads, and TVM has state of the process."""

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tvm_pulp.errors import GuestFault, UserError, WrongAnswer
from tvm_pulp.machine_errors import machine_sentence
from tvm_pulp.toolchain import ToolchainError
from tvm_pulp.tvmc.argument import Argument, add_arguments

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


def run_stage(
    arguments: Sequence[Argument], work: Callable[[argparse.Namespace], None], argv: Sequence[str] | None
) -> int:
    """The main function of a stage; exit status 2 for a user error, 1 for what is wrong with the program."""
    parser = argparse.ArgumentParser()
    add_arguments(parser, arguments)
    try:
        work(parser.parse_args(argv))
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (WrongAnswer, GuestFault) as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return 1
    except ToolchainError as error:
        sys.stderr.write(f"the archive's C does not build: {' '.join(str(error.reason).split())}\n")
        return 1
    except (OSError, MemoryError) as error:
        sentence = machine_sentence(error)
        if sentence is None:
            raise
        sys.stderr.write(f"{sentence}\n")
        return 2
    return 0


# A run that failed stays failed, and the report says why: MLonMCU 0.9 clears the mark of a failed run when its
# postprocesses run in the same step (`runs_per_stage: false`, which every executor but the default needs), and its
# reports name the class of an exception only.
_MARK = "_tvm_pulp_keeps_failures"


def keep_failures() -> None:
    """Correct MLonMCU's class of runs, once."""
    from mlonmcu.session.run import Run, RunStage

    if getattr(Run, _MARK, False):
        return
    process, reason_text = Run.process, Run.get_reason_text

    def process_unless_failed(
        self: Any, until: Any = RunStage.RUN, start: Any = None, skip: Any = None, export: bool = False
    ) -> Any:
        if self.failing and start == RunStage.POSTPROCESS:
            return self.get_report()
        return process(self, until=until, start=start, skip=skip, export=export)

    def whole_reason(self: Any) -> str | None:
        text: str | None = reason_text(self)
        if isinstance(self.reason, StageFailed | UserError):
            return f"{text}: {str(self.reason).splitlines()[0]}"
        return text

    Run.process, Run.get_reason_text = process_unless_failed, whole_reason
    setattr(Run, _MARK, True)
