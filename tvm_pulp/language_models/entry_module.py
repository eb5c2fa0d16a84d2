"""One program of a decoder before it is planned: its canonical module, and what its inputs and outputs are for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.qnn.value_groups import groups_of

# Purposes of inputs: rows of tables by token and by position, rows of a cache, which of those hold nothing yet, the
# number of those that hold something, what is the same for all tokens, and the part of a cache that new rows go to.
TOKENS, POSITIONS, PAST, UNWRITTEN, LENGTH = "tokens", "positions", "past", "unwritten", "length"
ENCODED, PRESENT = "encoded", "present"


@dataclass(frozen=True)
class Source:
    """An input and its purpose; rows by token or by position with their table, parts of a cache with its input."""

    name: str
    purpose: str
    table: np.ndarray | None = None
    cache: str = ""


@dataclass(frozen=True)
class CacheRows:
    """Names of the input of earlier rows and of the output of new ones, elements of a row and their type.

    `together`: positions of an element that lie in a word.
    """

    past: str
    rows: str
    width: int
    dtype: str
    together: int = 1

    def rows_of(self, modules: Sequence["EntryModule"], capacity: int, level: str) -> int:
        """Rows that a buffer needs. In L2 a whole chunk is written, also behind the last token that fits."""
        if level != "l2":
            return capacity
        if self.together == 1:
            return max(m.past + m.rows for m in modules)
        return self.together * max(m.past // self.together + groups_of(m.rows) for m in modules)

    def bytes_of(self, modules: Sequence["EntryModule"], capacity: int, level: str) -> int:
        """Bytes of the buffer."""
        return aligned(self.rows_of(modules, capacity, level) * self.width * np.dtype(self.dtype).itemsize)


@dataclass(frozen=True, eq=False)
class EntryModule:
    """A canonical module for `rows` new tokens behind up to `past` earlier ones.

    Logits go out first, then new rows of every cache. `sources` are the inputs in their order. An encoder takes no
    tokens and has neither.
    """

    imported: Imported
    sources: tuple[Source, ...] = ()
    caches: tuple[CacheRows, ...] = ()
    past: int = 0
    rows: int = 0
