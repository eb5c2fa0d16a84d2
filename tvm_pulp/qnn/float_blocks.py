"""Blocks of results that stay in registers while their sums are made."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tvm import tirx

from tvm_pulp.qnn.loops import Expr, i32

# Float registers of a core, less what addresses and constants need; cores that usually share the blocks.
_REGISTERS, _CORES = 28, 8
# Cycles around the sums of a block: finding its place, writing it.
_AROUND = 50
# Steps of the depth that one iteration adds to the sums of a single row.
ROW_STEPS = 4


@dataclass(frozen=True)
class Blocks:
    """Blocks of height x width, and how many of them: the last ones reach back over their neighbours."""

    height: int
    width: int
    rows: int
    columns: int

    @staticmethod
    @lru_cache(maxsize=4096)
    def best(rows: int, columns: int, depth: int, batch: int, tallest: int = 8) -> "Blocks":
        """The shape that takes eight cores least time; two cores share a float unit."""

        def cycles(blocks: Blocks) -> int:
            h, w = blocks.height, blocks.width
            step = max(2 * h * w, h * w + h + w + 3)
            return (-(-batch * blocks.rows * blocks.columns // _CORES)) * (depth * step + _AROUND + 2 * h * w)

        shapes = [(h, w) for h in (1, 2, 3, 4, 6, 8) for w in (1, 2, 3, 4, 6, 8, 12) if h * w + h + w <= _REGISTERS]
        found = [
            Blocks(h, w, -(-rows // h), -(-columns // w)) for h, w in shapes if h <= min(rows, tallest) and w <= columns
        ]
        return min(found, key=cycles)


def block_start(number: Any, size: int, extent: int) -> Expr:
    """First entry of a block."""
    if extent % size == 0:
        return number * size if size > 1 else number
    return tirx.min(number * size, i32(extent - size))
