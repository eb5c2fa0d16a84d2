"""Size of the NE16 array and how it cuts a layer into subtiles."""

from uma_backends.conv_array.modes import Mode, remainder, subtiles

__all__ = ["Mode", "input_subtile", "output_subtile", "remainder", "subtile_sizes", "subtiles"]

# Output pixels of a subtile, in both directions.
PATCH = 3
# Bytes of input per pixel and step, output channels of a subtile, taps of a 3x3 filter.
INPUT_BYTES, OUTPUT_CHANNELS, TAPS = 16, 32, 9
# A step of linear mode takes as many words of INPUT_BYTES.
LINEAR_WORDS = 16


def output_subtile(mode: Mode) -> int:
    return INPUT_BYTES if mode is Mode.DEPTHWISE_3X3 else OUTPUT_CHANNELS


def input_subtile(mode: Mode) -> int:
    """Bytes of input channels of a step."""
    return INPUT_BYTES * LINEAR_WORDS if mode is Mode.LINEAR else INPUT_BYTES


def subtile_sizes(mode: Mode) -> tuple[int, int, int, int]:
    """Bytes of channels in, channels out, rows and columns of a full subtile."""
    return input_subtile(mode), output_subtile(mode), PATCH, PATCH
