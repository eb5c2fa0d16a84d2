"""Room behind every block of L1 that a debug build watches: nothing may ever write there."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_GUARD: ContextVar[int] = ContextVar("guard", default=0)


@contextmanager
def guarded(size: int) -> Iterator[None]:
    """While this is open, blocks are placed with `size` bytes behind each; 0 is none."""
    token = _GUARD.set(size)
    try:
        yield
    finally:
        _GUARD.reset(token)


def guard_bytes() -> int:
    """The bytes that are wanted now."""
    return _GUARD.get()
