"""What the fuzzer knows about a format of files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.draws import Edit, Random


@dataclass(frozen=True)
class Trial:
    """One mutant, the valid file it was made of, and an empty folder for what a command writes."""

    mutant: Path
    seed: Path
    out: Path


@dataclass(frozen=True)
class Format:
    """Valid files, one random change of such a file, and commands that read it.

    `seeds` writes the valid files into a folder, with whatever the commands need beside them. `edit` keeps what it can
    of the structure, so that a few edits get far into the compiler; where it raises, nothing is changed.
    `command` names a command of `tvmc` and its arguments. `needs` are modules without which the format is left out.
    """

    name: str
    seeds: Callable[[Path], Sequence[Path]]
    edit: Edit
    command: Callable[[Random, Trial], list[str]]
    # Exit statuses besides 0 and 2 that are right, always with a sentence.
    statuses: frozenset[int] = frozenset()
    # What a valid file may end with.
    valid: frozenset[int] = frozenset({0})
    needs: tuple[str, ...] = ()
    # One of so many mutants that compile is compared with what the model's framework computes; 0: there is no other.
    compare: int = 0
    edits: int = 3
