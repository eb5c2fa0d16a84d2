"""Progress of a program that calls the compiler: a bar in terminals and notebooks, nothing in pipes."""

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from tvm_pulp.entry_point import Progress, silent
from tvm_pulp.planning.search import watch_plans

# Samples done, and how many there are.
Samples = Callable[[int, int], None]
# The beginning of a notebook's bar, and all that is left of it.
NOTEBOOK_MARK = "<!-- tvm_pulp progress -->"
# A notebook is told no more often.
_SECONDS = 0.25


def in_notebook() -> bool:
    """Tell if a kernel runs this; it has loaded IPython then."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


class _TerminalBar:
    """A bar of `rich` on the stream of errors; gone when it is over."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None)
        self._bar.start()

    def show(self, words: str, done: int, count: int | None) -> None:
        self._bar.update(self._task, description=words, completed=done, total=count)

    def close(self) -> None:
        self._bar.stop()


class _NotebookBar:
    """A bar of HTML that is written anew; in the end nothing but a comment is left of it."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html, self._started, self._shown = HTML, time.monotonic(), 0.0
        self._handle = display(HTML(NOTEBOOK_MARK), display_id=True)

    def show(self, words: str, done: int, count: int | None) -> None:
        now = time.monotonic()
        if now - self._shown >= _SECONDS or done == count:
            self._shown = now
            place = "" if count is None else f' value="{done}" max="{count}"'
            text = f"<progress{place}></progress> {now - self._started:.0f} s {html.escape(words)}"
            self._handle.update(self._html(NOTEBOOK_MARK + text))

    def close(self) -> None:
        self._handle.update(self._html(NOTEBOOK_MARK))


class LiveProgress:
    """A bar with the stage at hand, its time, and while plans are tried the best so far.

    with LiveProgress() as progress:
        progress("emitting C")
    """

    def __init__(self) -> None:
        self._stage, self._plans, self._cycles = "loading the compiler", 0, 0
        self._stack = ExitStack()

    def __enter__(self) -> "LiveProgress":
        self._bar = _NotebookBar() if in_notebook() else _TerminalBar()
        self._stack.callback(self._bar.close)
        self._stack.enter_context(watch_plans(self._tried))
        self._bar.show(self._stage, 0, None)
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()

    def __call__(self, message: str) -> None:
        """A stage begins."""
        self._stage, self._plans = message, 0
        self._bar.show(message, 0, None)

    def samples(self, done: int, count: int) -> None:
        """So many samples are done."""
        self._bar.show(f"{done} of {count} samples", done, count)

    def _tried(self, plan: Any) -> None:
        self._cycles = min(self._cycles, plan.estimated_cycles) if self._plans else plan.estimated_cycles
        self._plans += 1
        self._bar.show(f"{self._stage}: {self._plans} plans tried, fastest about {self._cycles:,} cycles", 0, None)


def _is_watched() -> bool:
    return sys.stderr.isatty() or in_notebook()


def compile_progress() -> AbstractContextManager[Progress]:
    """The bar where a person looks, else silence."""
    return LiveProgress() if _is_watched() else nullcontext(silent)


@contextmanager
def sample_progress() -> Iterator[Samples]:
    """The bar of many samples where a person looks, else silence."""
    if not _is_watched():
        yield lambda _done, _count: None
        return
    with LiveProgress() as live:
        yield live.samples
