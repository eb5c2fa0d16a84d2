"""Transfers cut to what one DMA command can carry."""

from __future__ import annotations

from collections.abc import Sequence

from tvm_pulp.uma.box import Transfer

# A command moves at most 2^17 - 1 bytes; this is the largest multiple of a burst below.
LARGEST_COMMAND = 0x1FF00


def split_transfers(moved: Sequence[Transfer]) -> tuple[Transfer, ...]:
    """The same bytes, no transfer larger than a command."""
    result: list[Transfer] = []
    for t in moved:
        if t.bytes <= LARGEST_COMMAND:
            result.append(t)
        elif t.is_2d and t.line <= LARGEST_COMMAND:
            lines = LARGEST_COMMAND // t.line
            for first in range(0, t.bytes // t.line, lines):
                size = min(lines, t.bytes // t.line - first) * t.line
                result.append(Transfer(t.external + first * t.stride, t.local + first * t.line, size, t.line, t.stride))
        else:
            result += _split_lines(t)
    return tuple(result)


def _split_lines(t: Transfer) -> list[Transfer]:
    result = []
    for line in range(t.bytes // t.line):
        for start in range(0, t.line, LARGEST_COMMAND):
            size = min(LARGEST_COMMAND, t.line - start)
            external, local = t.external + line * t.stride + start, t.local + line * t.line + start
            result.append(Transfer(external, local, size, size, size))
    return result
