"""Checks of a model file against the sizes that are plausible for a microcontroller, before anything is made."""

import math
import os
from collections.abc import Iterable
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.input_file import open_input
from tvm_pulp.limits import (
    LARGEST_CONSTANTS,
    LARGEST_FILE,
    LARGEST_FOLDED,
    LARGEST_TENSOR,
    MOST_AXES,
    MOST_NODES,
    MOST_READERS,
)

__all__ = [
    "LARGEST_CONSTANTS",
    "LARGEST_FILE",
    "LARGEST_FOLDED",
    "LARGEST_TENSOR",
    "MOST_AXES",
    "MOST_NODES",
    "MOST_READERS",
    "check_shape",
    "deepest_nesting",
    "read_file",
]


def read_file(path: Path, too_large: str, largest: int = LARGEST_FILE) -> bytes:
    """The bytes of a model file; `too_large` is said of one that no model is in."""
    with open_input(path, f"model file '{path}' cannot be read", None) as stream:
        size = os.fstat(stream.fileno()).st_size
        refuse_if(size > largest, f"'{path}' {too_large}")
        return stream.read(size)


def deepest_nesting(text: str, opening: str, closing: str) -> int:
    """Brackets inside of brackets in a text: a reader that recurses must not be led too deep."""
    depth = deepest = 0
    for character in text:
        depth += (character in opening) - (character in closing)
        deepest = max(deepest, depth)
    return deepest


def check_shape(what: str, shape: Iterable[int], item_bytes: int = 1, largest: int = LARGEST_TENSOR) -> int:
    """Bytes of a tensor; a user error where its shape is impossible or absurd. `what` names it in the message."""
    dims = list(shape)
    refuse_if(len(dims) > MOST_AXES, f"{what} has {len(dims)} axes, more than {MOST_AXES}: check the model")
    refuse_if(any(d < 0 for d in dims), f"{what} has a negative dimension in its shape {dims}: check the model")
    total = math.prod(dims) * item_bytes
    # An axis of size zero must not hide an absurd one.
    if max(dims, default=0) > largest or total > largest:
        raise UserError(f"{what} of shape {dims} is larger than {largest >> 20} MiB: the model is not plausible here")
    return total
