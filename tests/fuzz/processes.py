"""A warm process that answers lines of JSON with lines of JSON; started again after a crash or a hang."""

import json
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent.parent
# Wall time of an answer: the machine may be busy, a limit of processor time is the worker's own.
TIMEOUT_S = 300


class Died(Exception):
    """The process crashed or hung: how, and its last words."""


class Worker:
    """The process that runs a module; `environment` as for `subprocess`."""

    def __init__(self, module: str = "tests.fuzz.worker", environment: Mapping[str, str] | None = None) -> None:
        self._module, self._environment = module, environment
        self._process: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="tvm_pulp_fuzz_")
        self._words = Path(self._folder.name) / "last_words"

    def ask(self, request: Mapping[str, Any]) -> Any:
        """The answer to one request."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                if not selector.select(TIMEOUT_S):
                    self._end()
                    raise Died(f"no answer within {TIMEOUT_S} s")
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        status = process.wait()
        self._end()
        words = self._words.read_text(errors="replace")
        raise Died(f"the process died with status {status}\n{words}")

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, str(self._words)],
                cwd=REPOSITORY,
                env=None if self._environment is None else dict(self._environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # A report of the address checker goes to standard error.
                stderr=self._words.open("w"),
                text=True,
            )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    def stop(self) -> None:
        """End the process."""
        self._end()
        self._folder.cleanup()
