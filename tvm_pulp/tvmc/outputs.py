"""Files and folders that a command will write: checked before the work, all of them in the same way."""

import argparse
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.output_files import Destination, check_folder
from tvm_pulp.tvmc.argument import FILE, FOLDER, UPDATED, Argument


def check_outputs(arguments: Sequence[Argument], args: argparse.Namespace, given: Sequence[str]) -> None:
    """Raise where an output cannot be written, or is one of the files that the command reads or writes otherwise."""
    named = [(entry, getattr(args, entry.value_name, None)) for entry in arguments if entry.writes]
    places: list[tuple[str, str, Destination]] = []
    for entry, text in named:
        if not text:
            continue
        prefix = f"{entry.shown}: "
        if entry.writes == FOLDER:
            check_folder(Path(text), prefix)
            continue
        place = Destination.of(Path(text), prefix)
        for other, _, taken in places:
            refuse_if(_is_same(place, taken), f"{other} and {entry.shown} both name '{text}': name different files")
        places.append((entry.shown, text, place))
        if entry.writes == FILE:
            _refuse_input(entry.shown, text, place, given)
    assert all(entry.writes in (FILE, FOLDER, UPDATED) for entry, _ in named)


def _is_regular(place: Destination) -> bool:
    return place.found is None or stat.S_ISREG(place.found.st_mode)


def _is_same(one: Destination, other: Destination) -> bool:
    """Tell if two names stand for one regular file; a device may be named as often as wanted."""
    if not (_is_regular(one) and _is_regular(other)):
        return False
    if one.found is None or other.found is None:
        return one.real == other.real
    return os.path.samestat(one.found, other.found)


def _refuse_input(option: str, text: str, place: Destination, given: Sequence[str]) -> None:
    """Raise where another word of the command line is the name of the output's file."""
    if place.found is None or not _is_regular(place):
        return
    own = 1
    for word in _words(given):
        if word == text and own:
            own -= 1
            continue
        with suppress(OSError, ValueError):
            if os.path.samestat(Path(word).stat(), place.found):
                raise UserError(f"{option}: '{text}' is a file that this command reads: name another one")


def _words(given: Sequence[str]) -> Iterator[str]:
    """Words of a command line; of `--option=value` and `NAME=FILE`, the latter parts."""
    for word in given:
        yield word.rpartition("=")[2] if word.startswith("-") or not Path(word).name.count(".") else word
        if "=" in word and not word.startswith("-"):
            yield word.rpartition("=")[2]
