"""Leaves Relax's block builder in order when an exception ends the work on a function."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def closed_on_error(builder: Any) -> Iterator[None]:
    """Whoever catches the exception speaks to the user; a builder that dies with an open block would speak as well."""
    try:
        yield
    except BaseException:
        with suppress(Exception):  # no block was open yet
            builder._end_block()
        raise
