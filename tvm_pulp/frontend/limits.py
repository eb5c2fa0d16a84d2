"""Sizes beyond which a model file is not plausible for a microcontroller. They are checked before anything is made."""

import math
from collections.abc import Iterable
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_file_errors, refuse_if

# Protocol buffers end here, and so do sane files.
LARGEST_FILE = (1 << 31) - 1
# All constants of a model together; as C text they need several times as much.
LARGEST_CONSTANTS = 1 << 28
# One value of the network. Emitted loops index with 32 bits.
LARGEST_TENSOR = 1 << 30
# What constant folding may produce or read at once.
LARGEST_FOLDED = 1 << 26
MOST_NODES = 50_000
# Nodes that read one value that is not a constant.
MOST_READERS = 1000
MOST_AXES = 16


def read_file(path: Path, too_large: str, largest: int = LARGEST_FILE) -> bytes:
    """The bytes of a model file; `too_large` is said of one that no model is in."""
    with refuse_file_errors(f"model file '{path}' cannot be read"):
        refuse_if(path.stat().st_size > largest, f"'{path}' {too_large}")
        return path.read_bytes()


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
