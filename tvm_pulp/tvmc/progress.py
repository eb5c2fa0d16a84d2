"""Progress on stderr: one line per stage, and on a terminal a line that lives while plans are tried."""

import sys
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from tvm_pulp.planning.tiling.plan import Plan

# Nothing is shown of what is over sooner.
_FIRST_SECONDS, _SECONDS = 1.0, 0.5
_CLEAR = "\r\033[K"


class Progress:
    """Shows what a verb is doing.

    with Progress("compile") as progress:
        progress("emitting C")
    """

    def __init__(self, verb: str, *, stages: bool = True, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._verb, self._stages, self._quiet = verb, stages and not quiet, quiet
        self._lock, self._over = threading.Lock(), threading.Event()
        self._network, self._plans, self._cycles, self._shown = "", 0, 0, False
        self._started = time.monotonic()
        self._stack = ExitStack()

    def __call__(self, message: str) -> None:
        """A stage begins."""
        with self._lock:
            self._clear()
            self._network, self._plans, self._started = "", 0, time.monotonic()
            if self._stages:
                print(f"tvmc {self._verb}: {message}", file=self._stream, flush=True)

    def __enter__(self) -> "Progress":
        if not self._quiet and self._stream.isatty():
            from tvm_pulp.planning.search import watch_plans

            self._stack.enter_context(watch_plans(self._watch))
            thread = threading.Thread(target=self._live, daemon=True)
            thread.start()
            self._stack.callback(thread.join)
            self._stack.callback(self._over.set)
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()
        with self._lock:
            self._clear()

    def _watch(self, plan: "Plan") -> None:
        """A plan was tried."""
        with self._lock:
            if plan.network.name != self._network:
                self._network, self._plans, self._cycles = plan.network.name, 0, plan.estimated_cycles
            self._plans += 1
            self._cycles = min(self._cycles, plan.estimated_cycles)

    def _live(self) -> None:
        """The line that is written again and again until the verb is over."""
        wait = _FIRST_SECONDS
        while not self._over.wait(wait):
            wait = _SECONDS
            with self._lock:
                if self._plans:
                    self._stream.write(_CLEAR + self.line())
                    self._stream.flush()
                    self._shown = True

    def line(self) -> str:
        """Everything known now, short enough for any terminal."""
        seconds = time.monotonic() - self._started
        best = f"fastest about {self._cycles:,} cycles"
        return f"  {seconds:.0f} s, {self._plans} plans tried, {best}"

    def _clear(self) -> None:
        if self._shown:
            self._stream.write(_CLEAR)
            self._stream.flush()
            self._shown = False
