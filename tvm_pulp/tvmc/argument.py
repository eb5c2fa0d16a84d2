"""Arguments of a verb as data: its module lists them, and the command line makes its parser from the list."""

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tvm_pulp.errors import refuse_if
from tvm_pulp.option_values import read_arrays

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Argument:
    """One argument: its names, the group of the help text that it stands in, and what `argparse` is told."""

    names: tuple[str, ...]
    group: str = ""
    told: dict[str, Any] = field(default_factory=dict)
    writes: str = ""
    """FILE or FOLDER where the argument names one that is written; UPDATED where that file is read before."""

    @property
    def shown(self) -> str:
        """The name in messages: the long one."""
        return "-o" if self.names[-1] == "--output" else self.names[-1]

    @property
    def value_name(self) -> str:
        """The name of the value among the parsed ones."""
        return str(self.told.get("dest") or self.names[-1].lstrip("-").replace("-", "_"))


FILE, FOLDER, UPDATED = "file", "folder", "updated file"


def argument(*names: str, group: str = "", writes: str = "", **told: Any) -> Argument:
    """An argument, written as `argparse` is told it."""
    return Argument(names, group, told, writes)


def add_arguments(parser: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    """Declare arguments, those of a group together."""
    groups: dict[str, Any] = {"": parser}
    for entry in arguments:
        if entry.group not in groups:
            groups[entry.group] = parser.add_argument_group(entry.group)
        groups[entry.group].add_argument(*entry.names, **entry.told)


def given_inputs(args: argparse.Namespace) -> "dict[str, np.ndarray] | list[np.ndarray] | None":
    """The arrays of `--inputs`, without names where positions count."""
    refuse_if(args.by_position and not args.inputs, "--by-position has no effect without --inputs F.npz")
    if not args.inputs:
        return None
    arrays = read_arrays(args.inputs, "--inputs")
    return [array for _, array in arrays] if args.by_position else dict(arrays)


# Arguments of several verbs.
INPUTS = (
    argument(
        "-i",
        "--inputs",
        metavar="F.npz",
        help="arrays by names of inputs, or arr_N and input_N by position; default: seeded random values",
    ),
    argument("--by-position", action="store_true", help="--inputs in the order of the file, whatever their names"),
)
QUIET = argument("-q", "--quiet", action="store_true", help="no progress on stderr", group="output")
