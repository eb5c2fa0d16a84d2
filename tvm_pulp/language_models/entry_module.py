"""One program of a decoder before it is planned: its canonical module, and what its inputs and outputs are for."""

from dataclasses import dataclass

import numpy as np

from tvm_pulp.frontend.imported import Imported

# Purposes of inputs: rows of tables by token and by position, rows of a cache, which of those hold nothing yet, the
# number of those that hold something, and what is the same for all tokens.
TOKENS, POSITIONS, PAST, UNWRITTEN, LENGTH = "tokens", "positions", "past", "unwritten", "length"
ENCODED = "encoded"


@dataclass(frozen=True)
class Source:
    """An input and its purpose; rows by token or by position with their table."""

    name: str
    purpose: str
    table: np.ndarray | None = None


@dataclass(frozen=True)
class CacheRows:
    """Names of the input of earlier rows and of the output of new ones, elements of a row and their type."""

    past: str
    rows: str
    width: int
    dtype: str


@dataclass(frozen=True, eq=False)
class EntryModule:
    """A canonical module for `rows` new tokens behind up to `past` earlier ones.

    Logits go out first, then new rows of every cache. `sources` are the inputs in their order.
    """

    imported: Imported
    sources: tuple[Source, ...]
    caches: tuple[CacheRows, ...]
    past: int
    rows: int
