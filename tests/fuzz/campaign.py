"""Drives a worker through many mutants and collects what must never happen."""

import json
import selectors
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIMEOUT_S = 60
LARGEST_MIB = 4096
REPOSITORY = Path(__file__).resolve().parent.parent.parent


@dataclass
class Outcome:
    """Exit statuses and failures of a campaign."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    peak_mib: int = 0


class Worker:
    """The warm process; started again after a crash or a hang."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.worker"],
                cwd=REPOSITORY,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self._process

    def run(self, path: Path) -> dict[str, Any] | str:
        """The answer for one file, or a sentence about the crash or hang."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(TIMEOUT_S):
                self.stop()
                return f"no answer within {TIMEOUT_S} s"
        line = process.stdout.readline()
        if not line:
            status = process.wait()
            self.stop()
            return f"the process died with status {status}"
        return dict(json.loads(line))

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None


def judge(answer: dict[str, Any] | str, name: str, outcome: Outcome) -> bool:
    """Record an answer; False where something happened that must not."""
    before = len(outcome.failures)
    if isinstance(answer, str):
        outcome.failures.append(f"{name}: {answer}")
        return False
    outcome.statuses[answer["status"]] += 1
    outcome.peak_mib = max(outcome.peak_mib, answer["peak_mib"])
    text = answer["text"].strip()
    if answer["status"] not in (0, 2):
        outcome.failures.append(f"{name}: exit status {answer['status']}\n{text}")
    elif answer["status"] == 2 and (not text.startswith("tvmc compile: ") or "\n" in text or len(text) > 2000):
        outcome.failures.append(f"{name}: not one sentence\n{text}")
    elif answer["status"] == 2 and answer["leftovers"]:
        outcome.failures.append(f"{name}: left behind {answer['leftovers']}")
    elif answer["complaints"]:
        outcome.failures.append(f"{name}: emitted C does not compile\n{answer['complaints']}")
    elif answer["peak_mib"] > LARGEST_MIB:
        outcome.failures.append(f"{name}: {answer['peak_mib']} MiB of memory")
    return len(outcome.failures) == before
