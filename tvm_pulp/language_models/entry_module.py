"""One program of a decoder before it is planned: its canonical module, and what its inputs and outputs are for."""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from tvm_pulp.frontend.imported import Imported

# Entry points in the order in which they are planned: the first decides where shared weights lie. Those of further
# chunks are called after their tokens. Then the program that runs once for a text, before its first token.
DECODE, PREFILL, ENCODE = "decode", "prefill", "encode"
# The input that says how many rows of caches hold something.
LENGTH = "length"


class Purpose(Enum):
    """Purposes of inputs."""

    TOKENS = auto()  # rows of a table by token
    POSITIONS = auto()  # rows of a table by position
    PAST = auto()  # rows of a cache
    UNWRITTEN = auto()  # which of those hold nothing yet
    LENGTH = auto()  # the number of those that hold something
    ENCODED = auto()  # what is the same for all tokens
    PRESENT = auto()  # the part of a cache that new rows go to


@dataclass(frozen=True)
class Source:
    """An input and its purpose; rows by token or by position with their table, parts of a cache with its input."""

    name: str
    purpose: Purpose
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
