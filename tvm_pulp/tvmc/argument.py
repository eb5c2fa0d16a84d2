"""Arguments of a verb as data: its module lists them, and the command line makes its parser from the list."""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Argument:
    """One argument: its names, the group of the help text that it stands in, and what `argparse` is told."""

    names: tuple[str, ...]
    group: str = ""
    told: dict[str, Any] = field(default_factory=dict)


def argument(*names: str, group: str = "", **told: Any) -> Argument:
    """An argument, written as `argparse` is told it."""
    return Argument(names, group, told)


def add_arguments(parser: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    """Declare arguments, those of a group together."""
    groups: dict[str, Any] = {"": parser}
    for entry in arguments:
        if entry.group not in groups:
            groups[entry.group] = parser.add_argument_group(entry.group)
        groups[entry.group].add_argument(*entry.names, **entry.told)


# Arguments of several verbs.
INPUTS = argument("-i", "--inputs", metavar="F.npz", help="input arrays; default: seeded random values")
QUIET = argument("-q", "--quiet", action="store_true", help="no progress on stderr", group="output")
