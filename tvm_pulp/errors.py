"""Errors that a user can act on."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

# A sentence longer than this has swallowed part of a file.
_LONGEST = 1500


def printable(sentence: str) -> str:
    """One line of bearable length, in which nothing steers a terminal: names in files may be anything."""
    clean = "".join(c if c.isprintable() else "?" for c in sentence)
    return clean if len(clean) <= _LONGEST else f"{clean[: _LONGEST - 300]} ... {clean[-200:]}"


class UserError(Exception):
    """One sentence for the user: which node or option, why, and the way out. Exit status 2."""

    def __str__(self) -> str:
        return printable(super().__str__())


class Note(UserWarning):
    """Something that a user should know about what was given, in one sentence; the command line prints it."""


def refuse_if(condition: object, sentence: str) -> None:
    """Raise a user error with this sentence where the condition holds."""
    if condition:
        raise UserError(sentence)


def meant(name: str, known: Iterable[str], otherwise: str) -> str:
    """The known name that an unknown one comes closest to, as a question; other advice where none is close."""
    close = get_close_matches(name, list(known), 1)
    return f"did you mean '{close[0]}'?" if close else otherwise


@contextmanager
def refuse_file_errors(sentence: str, way_out: str = "") -> Iterator[None]:
    """Turn what the operating system says about a file of the user into a user error: sentence, reason, way out."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{sentence}: {error.strerror}{way_out}") from None


class WrongAnswer(Exception):
    """A compiled program does not give the same answer twice: a bug of ours in one sentence. Exit status 1."""


class WrongLayer(WrongAnswer):
    """The checks of a debug build found a layer whose result is wrong: its name in one sentence. Exit status 1."""


class GuestFault(Exception):
    """The simulated program did something the hardware would not survive. Carries the simulator's report."""
