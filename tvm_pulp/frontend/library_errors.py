"""Complaints of other libraries about a file or a model, as part of a sentence of ours."""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.plug_ins import needed


def one_line(error: Exception, longest: int = 200) -> str:
    """The beginning of a message, on one line."""
    return " ".join(str(error).split())[:longest]


def sentence(error: Exception, longest: int = 200) -> str:
    """The same without a full stop, else the name of its class."""
    return one_line(error, longest).rstrip(".") or type(error).__name__


def first_line(error: Exception) -> str:
    """The first line of a message, else the name of its class."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]


def last_words(error: Exception, longest: int = 160) -> str:
    """The end of a message, where TVM and numpy say what does not fit, else the name of its class."""
    return " ".join(str(error).split())[-longest:] or type(error).__name__


def installed(module: str, name: str, what: str, extra: str) -> Any:
    """A library that is an extra of ours; a user error that says what needs it where it is not installed."""
    return needed(module, f"{what} needs {name}, which is not installed: pip install 'tvm_pulp[{extra}]'")


@contextmanager
def quiet(level: int) -> Iterator[None]:
    """Warnings of a library, and what it logs up to a level, are not ours to show: what matters is in exceptions."""
    before = logging.root.manager.disable
    logging.disable(level)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(before)


@contextmanager
def refuse_library_errors(
    sentence: str, way_out: str = "", reason: Callable[[Exception], str] = one_line
) -> Iterator[None]:
    """Turn whatever a library raises, which has no common class, into a user error: sentence, reason, way out."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{sentence} ({reason(error)}){way_out}") from None
