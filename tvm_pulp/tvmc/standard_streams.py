"""Standard streams that bear what a verb prints: closed ones, those of few characters, and full disks behind them."""

import codecs
import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

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


class _Output(io.FileIO):
    """Standard output, which remembers why something did not arrive."""

    failure: OSError | None = None

    def write(self, data: Any) -> int | None:  # type: ignore[override]
        try:
            return super().write(data)
        except OSError as error:
            self.failure = self.failure or error
            raise


class _Messages(io.FileIO):
    """Standard error: where nobody can hear what is said, the work goes on."""

    def write(self, data: Any) -> int | None:  # type: ignore[override]
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _usable(stream: TextIO | None, number: int) -> TextIO:
    kind, errors = (_Output, _ERRORS) if number == 1 else (_Messages, "backslashreplace")
    buffer = io.BufferedWriter(kind(number, "wb", closefd=False))
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return io.TextIOWrapper(buffer, encoding, errors, line_buffering=number == 2 or buffer.isatty())


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """The replacement of characters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(c, "?") for c in error.object[error.start : error.end]), error.end


def output_failure() -> OSError | None:
    """The reason why what was printed does not arrive; None where it does."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.failure if isinstance(raw, _Output) else None


def silence_output() -> None:
    """Let nothing be said any more by what is printed or waits to be: nobody reads it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
