"""Size of the NE16 array and how it cuts a layer into subtiles."""

import enum

# Output pixels of a subtile, in both directions.
PATCH = 3
# Bytes of input per pixel and step, output channels of a subtile, taps of a 3x3 filter.
INPUT_BYTES, OUTPUT_CHANNELS, TAPS = 16, 32, 9
# A step of linear mode takes as many words of INPUT_BYTES.
LINEAR_WORDS = 16


class Mode(enum.Enum):
    """Filter modes of the array; the value is CONFIG0[7:5], mode and linear flag."""

    DENSE_3X3 = 0
    DEPTHWISE_3X3 = 1
    POINTWISE = 2
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

    @property
    def output_subtile(self) -> int:
        return INPUT_BYTES if self is Mode.DEPTHWISE_3X3 else OUTPUT_CHANNELS

    @property
    def input_subtile(self) -> int:
        """Bytes of input channels of a step."""
        return INPUT_BYTES * LINEAR_WORDS if self is Mode.LINEAR else INPUT_BYTES


def subtiles(size: int, subtile: int) -> int:
    """Return how many subtiles cover `size`."""
    return (size - 1) // subtile + 1


def remainder(size: int, subtile: int) -> int:
    """Return the size of the last subtile, 1 to `subtile`."""
    return (size - 1) % subtile + 1
