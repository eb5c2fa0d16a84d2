"""Progress of a program that calls the compiler: a bar in terminals and notebooks, nothing in pipes."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, TextIO

from tvm_pulp.entry_point import Progress, silent
from tvm_pulp.planning.search import watch_plans

# Samples done, and how many there are.
Samples = Callable[[int, int], None]


def in_notebook() -> bool:
    """Tell if a kernel runs this; it has loaded IPython then."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


class LiveProgress:
    """A bar with the stage at hand, its time, and while plans are tried the best so far; gone when it is over.

    with LiveProgress() as progress:
        progress("emitting C")
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        console = Console(file=stream, stderr=stream is None)
        columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
        self._bar = Bar(*columns, console=console, transient=True)
        self._task = self._bar.add_task("loading the compiler", total=None)
        self._stage, self._plans, self._cycles = "", 0, 0
        self._stack = ExitStack()

    def __enter__(self) -> "LiveProgress":
        self._stack.enter_context(self._bar)
        self._stack.enter_context(watch_plans(self._tried))
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()

    def __call__(self, message: str) -> None:
        """A stage begins."""
        self._stage, self._plans = message, 0
        self._bar.update(self._task, description=message)

    def samples(self, done: int, count: int) -> None:
        """So many samples are done."""
        self._bar.update(self._task, completed=done, total=count, description=f"{done} of {count} samples")

    def _tried(self, plan: Any) -> None:
        self._cycles = min(self._cycles, plan.estimated_cycles) if self._plans else plan.estimated_cycles
        self._plans += 1
        best = f"{self._plans} plans tried, fastest about {self._cycles:,} cycles"
        self._bar.update(self._task, description=f"{self._stage}: {best}")


def _is_watched() -> bool:
    return sys.stderr.isatty() or in_notebook()


def compile_progress() -> AbstractContextManager[Progress]:
    """The bar where a person looks, else silence."""
    return LiveProgress() if _is_watched() else nullcontext(silent)


class _Samples:
    """The bar of many samples."""

    def __init__(self) -> None:
        self._live = LiveProgress()

    def __enter__(self) -> Samples:
        return self._live.__enter__().samples

    def __exit__(self, *error: object) -> None:
        self._live.__exit__(*error)


def sample_progress() -> AbstractContextManager[Samples]:
    """The bar of many samples where a person looks, else silence."""
    return _Samples() if _is_watched() else nullcontext(lambda _done, _count: None)
