"""Real values that the integers of a tensor stand for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantization:
    """real value = scale · (integer - zero point)"""

    scale: float
    zero_point: int
