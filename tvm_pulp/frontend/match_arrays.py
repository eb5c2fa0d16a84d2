"""Arrays that a user gives, paired with the inputs of a graph: by name, by position where the names say so."""

import re
import warnings
from collections.abc import Sequence

import numpy as np

from tvm_pulp.errors import Note, UserError, meant

# Keys that numpy writes for arrays without a name, and those of golden data.
_POSITION = re.compile(r"(?:arr|input)_(\d+)")


def match_arrays(
    names: Sequence[str], arrays: Sequence[tuple[str, np.ndarray]], option: str = "--inputs"
) -> dict[str, np.ndarray]:
    """The array of every input that has one.

    Where no name is an input's, arrays are paired by position, and a note lists the pairs; keys `arr_N` and `input_N`
    are positions by themselves. Where some names are right, a wrong one is an error. Arrays without an input are named.
    """
    given = dict(arrays)
    if any(name in given for name in names):
        _refuse_wrong_names(names, list(given), option)
        matched = {name: name for name in names if name in given}
    elif positions := _positions(list(given)):
        matched = {name: positions[i] for i, name in enumerate(names) if i in positions}
    else:
        matched = dict(zip(names, given, strict=False))
        if matched:
            _note(option, "no array has the name of an input, so they are taken in order: " + _pairs(matched))
    extra = [key for key in given if key not in matched.values()]
    if extra:
        _note(option, f"arrays that no input takes are left out: {', '.join(extra)}")
    return {name: given[key] for name, key in matched.items()}


def _refuse_wrong_names(names: Sequence[str], given: Sequence[str], option: str) -> None:
    """Raise where an input has no array although an array has no input: one of them is misspelt."""
    missing = [name for name in names if name not in given]
    for key in given if missing else ():
        if key not in names:
            advice = meant(key, missing, f"inputs without an array: {', '.join(missing)}")
            raise UserError(f"{option}: there is no input '{key}': {advice}")


def _positions(keys: Sequence[str]) -> dict[int, str]:
    """Keys by their position; empty where they are not all positions."""
    found = [_POSITION.fullmatch(key) for key in keys]
    return {int(m[1]): m[0] for m in found if m} if all(found) else {}


def _pairs(matched: dict[str, str]) -> str:
    return ", ".join(f"'{key}' for '{name}'" for name, key in matched.items())


def _note(option: str, text: str) -> None:
    warnings.warn(f"{option}: {text}", Note, stacklevel=2)
