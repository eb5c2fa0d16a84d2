"""How an array pads its input and what it does with accumulators, as jobs state it."""

from dataclasses import dataclass

# Pixels on a side.
MAX_PADDING = 2


@dataclass(frozen=True, slots=True)
class Padding:
    """Pixels added around the input. `value` appears at the top and left only; bottom and right are always zero."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0
    value: int = 0


@dataclass(frozen=True, slots=True)
class Requantization:
    """`(accumulator * scale + bias) >> shift`, clipped to unsigned (`relu`) or signed."""

    scale_bits: int = 8
    shift: int = 0
    bias: bool = True
    relu: bool = True
    shift_vector: bool = False


NO_PADDING = Padding()
DEFAULT_REQUANTIZATION = Requantization()
