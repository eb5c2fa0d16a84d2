"""Sums times a factor of single precision, rounded half to even, plus a zero point: as frameworks compute floats."""

from dataclasses import dataclass

import numpy as np

from tvm_pulp.qnn import fixed_point
from tvm_pulp.qnn.staircase import Staircase, find_steps


@dataclass(frozen=True)
class RealRounding:
    """A positive scale and zero point; `results`: all but the least."""

    scale: float
    results: np.ndarray
    zero_point: int = 0

    @property
    def factor(self) -> float:
        """The scale as single precision has it."""
        return float(np.float32(self.scale))

    def staircase(self, low: np.ndarray, high: np.ndarray) -> Staircase:
        """Steps of one channel, by sums from `low` to `high`."""

        def reaches(sums: np.ndarray) -> np.ndarray:
            # The product itself is rounded before it is rounded to a whole number.
            product = sums.astype(np.float32) * np.float32(self.scale)
            return np.asarray(np.rint(product).astype(np.int64) + self.zero_point >= self.results)

        guess = np.ceil((self.results - self.zero_point - 0.5)[None] / self.factor)
        return Staircase.of_steps(self.results, find_steps(reaches, guess, low, high), low, high)

    def as_half_even(self, low: np.ndarray, high: np.ndarray) -> tuple[int, int] | None:
        """Factor and shift of the rule `half_even`, where rounding the product itself first changes no result."""
        mantissa, exponent = np.frexp(np.float64(self.factor))
        factor, shift = np.array(int(mantissa * (1 << 24))), np.array(24 - int(exponent))
        if factor <= 0 or not 0 < shift < 63:
            return None
        stairs = self.staircase(low, high)
        same = stairs.agrees(lambda sums: fixed_point.scale_half_even(sums, factor, shift) + self.zero_point)
        return (int(factor), int(shift)) if same.all() else None
