"""Fewer runs of Python's garbage collector while very many small objects are made that stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made between two looks at the youngest ones. Modules, graphs and plans keep millions, hardly any in cycles;
# looking through them again and again took a third of the time of a compile.
OBJECTS = 1_000_000


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """The collector's threshold is raised inside."""
    before = gc.get_threshold()
    gc.set_threshold(max(OBJECTS, before[0]), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
