"""Size of the NEUREKA processing-element array and how it cuts a layer into subtiles."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Mode(enum.Enum):
    """Filter modes of the array; the value is the MODE field of CONFIG0."""

    DENSE_3X3 = 0
    DEPTHWISE_3X3 = 1
    POINTWISE = 2

    @property
    def kernel(self) -> int:
        """Rows and columns of the filter."""
        return 1 if self is Mode.POINTWISE else 3

    @property
    def halo(self) -> int:
        """Rows and columns an input window has more than its output."""
        return self.kernel - 1


@dataclass(frozen=True, slots=True)
class Geometry:
    """Parameters of the array; the defaults describe Siracusa. The C model takes them under the same names."""

    pe_rows: int = 6
    pe_columns: int = 6
    channels_1x1: int = 32
    channels_3x3: int = 28
    output_channels: int = 32
    weight_beat_bytes: int = 32

    def input_subtile(self, mode: Mode) -> int:
        """Return the input channels of one subtile."""
        return self.channels_1x1 if mode is Mode.POINTWISE else self.channels_3x3

    def output_subtile(self, mode: Mode) -> int:
        """Return the output channels of one subtile."""
        return self.channels_3x3 if mode is Mode.DEPTHWISE_3X3 else self.output_channels


SIRACUSA = Geometry()


def subtiles(size: int, subtile: int) -> int:
    """Return how many subtiles cover `size`."""
    return (size - 1) // subtile + 1


def remainder(size: int, subtile: int) -> int:
    """Return the size of the last subtile, 1 to `subtile`."""
    return (size - 1) % subtile + 1
