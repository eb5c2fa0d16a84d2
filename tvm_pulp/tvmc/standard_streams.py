"""Standard streams that bear what a verb prints: closed ones, those of few characters, and full disks behind them."""

import codecs
import os
import sys
from contextlib import suppress
from typing import TextIO

# Characters that we print, as people write them where there is nothing but ASCII.
_PLAIN = {"µ": "u", "×": "x", "·": ".", "–": "-", "—": "-", "±": "+-", "→": "->", "≤": "<=", "≥": ">=", "…": "..."}
_ERRORS = "tvm_pulp_plain"


def prepare_streams() -> None:
    """Make sure that there are three, and that whatever is printed can be encoded."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # A file that is opened later must not become where others print.
            os.open(os.devnull, os.O_RDWR)
    codecs.register_error(_ERRORS, _plainly)
    sys.stdout, sys.stderr = _usable(sys.stdout, 1), _usable(sys.stderr, 2)


def _usable(stream: TextIO | None, number: int) -> TextIO:
    if stream is None:
        return open(number, "w", encoding="utf-8", errors="replace", closefd=False)
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and number == 1:
        reconfigure(errors=_ERRORS)
    return stream


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """The replacement of characters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(c, "?") for c in error.object[error.start : error.end]), error.end


def flushed_output() -> OSError | None:
    """The reason why what was printed does not arrive; None where it does."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return error
    except ValueError:  # closed by somebody else
        pass
    return None


def silence_output() -> None:
    """Let nothing be said any more by what is printed or waits to be: nobody reads it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
