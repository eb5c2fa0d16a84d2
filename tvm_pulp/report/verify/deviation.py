"""The difference of two results: in steps of an integer result, relative to the largest value of a float one."""

from dataclasses import dataclass

import numpy as np

# Of a float layer, relative to its largest value: the order of sums and functions of the C library differ.
FLOAT_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Deviation:
    """The largest difference, and how many values differ at all."""

    largest: float
    differing: int
    values: int
    is_float: bool

    def within(self, bound_lsb: float) -> bool:
        """Tell if it is not more than a layer may differ; a float layer has its own tolerance."""
        return self.largest <= (FLOAT_TOLERANCE if self.is_float else bound_lsb)

    @property
    def text(self) -> str:
        if not self.largest:
            return "0"
        if self.is_float:
            return f"{self.largest:.0e}" if np.isfinite(self.largest) else "not finite"
        return f"{self.largest:.0f} ({self.differing} of {self.values})"


def deviation(found: np.ndarray, expected: np.ndarray) -> Deviation:
    """Of two arrays of the same number of values."""
    a, b = found.reshape(-1).astype(np.float64), expected.reshape(-1).astype(np.float64)
    is_float = found.dtype.kind == "f"
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    difference = np.where(np.isnan(difference), np.inf, difference)
    scale = 1.0
    if is_float:
        finite = np.abs(b[np.isfinite(b)])
        scale = max(float(finite.max(initial=0.0)), 1e-30)
    largest = float(difference.max(initial=0.0)) / scale
    return Deviation(largest, int(np.count_nonzero(~same)), a.size, is_float)
