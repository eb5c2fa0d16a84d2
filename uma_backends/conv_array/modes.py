"""Filters that such arrays have, and how an array cuts a dimension into subtiles."""

import enum
from collections.abc import Callable
from dataclasses import dataclass

# Jobs alternate between two sets of registers.
CONTEXTS = 2


class Mode(enum.Enum):
    """Filter modes; the value is what a job's configuration word holds."""

    DENSE_3X3 = 0
    DEPTHWISE_3X3 = 1
    POINTWISE = 2
    # One pixel times a matrix; not all arrays have it.
    LINEAR = 6

    @property
    def kernel(self) -> int:
        """Rows and columns of the filter."""
        return 1 if self in (Mode.POINTWISE, Mode.LINEAR) else 3

    @property
    def halo(self) -> int:
        """Rows and columns an input window has more than its output."""
        return self.kernel - 1

    @property
    def taps(self) -> int:
        return self.kernel**2


@dataclass(frozen=True)
class ModeCosts:
    """An array's input channels of a step, by mode, and its cycles for channels in and out, rows and columns."""

    channels: Callable[[Mode], int]
    cycles: Callable[[Mode, int, int, int, int], int]


def subtiles(size: int, subtile: int) -> int:
    """Return how many subtiles cover `size`."""
    return (size - 1) // subtile + 1


def remainder(size: int, subtile: int) -> int:
    """Return the size of the last subtile, 1 to `subtile`."""
    return (size - 1) % subtile + 1


def pads_wrongly(size: int, subtile: int, padding: int) -> bool:
    """Tell if two padded pixels lie behind a last subtile of one pixel.

    Hardware masks only the last subtile: the one before would read a padded pixel from memory.
    """
    return padding == 2 and size > subtile and remainder(size, subtile) == 1
