"""Transfers cut to what one DMA command can carry."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.uma.box import Transfer


@dataclass(frozen=True)
class CommandLimits:
    """Limits of one command: bytes at most (None: any), and whether it moves lines that lie apart outside L1.

    `most`: commands of a program at most (None: any number), since records of more exceed the memory of constants.
    """

    largest: int | None = None
    lines: bool = True
    most: int | None = None


NO_LIMITS = CommandLimits()


def split_transfers(moved: Sequence[Transfer], limits: CommandLimits) -> tuple[Transfer, ...]:
    """The same bytes, no transfer more than a command can do."""
    result: list[Transfer] = []
    for t in moved:
        largest = limits.largest or t.bytes
        if t.is_2d and not limits.lines:
            result += _split_lines(t, largest)
        elif t.bytes <= largest:
            result.append(t)
        elif t.is_2d and t.line <= largest:
            lines = largest // t.line
            for first in range(0, t.bytes // t.line, lines):
                size = min(lines, t.bytes // t.line - first) * t.line
                result.append(Transfer(t.external + first * t.stride, t.local + first * t.line, size, t.line, t.stride))
        else:
            result += _split_lines(t, largest)
    return tuple(result)


def _split_lines(t: Transfer, largest: int) -> list[Transfer]:
    result = []
    for line in range(t.bytes // t.line):
        for start in range(0, t.line, largest):
            size = min(largest, t.line - start)
            external, local = t.external + line * t.stride + start, t.local + line * t.line + start
            result.append(Transfer(external, local, size, size, size))
    return result
