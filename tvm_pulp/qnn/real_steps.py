"""Sums at which real numbers `unit * sum + bias`, rounded half to even, step from one result to the next: exactly.

A rule of integers gives the same results for every sum that can occur if it gives them at each step: at the first sum
of a result, and at the sum before it.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tvm_pulp.qnn.requant import Requant

# A sum computed in double precision is right unless it is so near to a whole number.
_NEAR_WHOLE = 2.0**-12
_FREE = 1 << 62


@dataclass(frozen=True)
class RealSteps:
    """The sums of every channel go from `least` to `most`; `first[channel, i]`: the first that gives `results[i]`.

    It is `most + 1` where no sum does, and `least` where all sums do. The lowest result is not among the `results`.
    """

    results: np.ndarray
    first: np.ndarray
    least: np.ndarray
    most: np.ndarray

    def of_channels(self, chosen: np.ndarray) -> "RealSteps":
        """Those of some channels."""
        return RealSteps(self.results, self.first[chosen], self.least[chosen], self.most[chosen])

    @property
    def reached(self) -> np.ndarray:
        """Steps whose first sum has the result."""
        return np.asarray(self.first <= self.most[:, None])

    @property
    def passed(self) -> np.ndarray:
        """Steps that have a sum before the first one."""
        return np.asarray(self.first > self.least[:, None])

    def agree(self, rule: Requant, constants: list[np.ndarray], added: np.ndarray) -> np.ndarray:
        """Tell by channel if a rule, whose sums have integers added, gives the results."""
        spread = [np.broadcast_to(c.reshape(-1), self.least.shape) for c in constants]
        at, before = self.first + added[:, None], self.first - 1 + added[:, None]
        enough = rule.apply(at, spread, axis=0).astype(np.int64) >= self.results
        few = rule.apply(before, spread, axis=0).astype(np.int64) < self.results
        return np.asarray(((enough | ~self.reached) & (few | ~self.passed)).all(axis=1))

    def summands(
        self, factor: np.ndarray, shift: np.ndarray, added: np.ndarray, zero_point: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The least and the most that `((sum + added) * factor + summand >> shift) + zero_point` allows by channel."""
        wanted = (self.results - zero_point)[None] << shift[:, None]
        at, before = ((self.first - i + added[:, None]) * factor[:, None] for i in (0, 1))
        least = np.where(self.reached, wanted - at, -_FREE).max(axis=1, initial=-_FREE)
        most = np.where(self.passed, wanted - 1 - before, _FREE).min(axis=1, initial=_FREE)
        return least, most


def real_steps(
    units: list[Fraction], biases: list[Fraction], zero_point: int, limits: tuple[int, int], ends: np.ndarray
) -> RealSteps:
    """Steps of channels whose positive units and biases are in steps of the result; `ends`: least and largest sums."""
    results = np.arange(limits[0] + 1, limits[1] + 1, dtype=np.int64)
    levels = results - zero_point
    unit, bias = (np.array([float(v) for v in values])[:, None] for values in (units, biases))
    with np.errstate(over="ignore"):
        about = (levels - 0.5 - bias) / unit
    # Beyond all sums nothing depends on the number.
    about = np.clip(about, ends[0][:, None] - 2, ends[1][:, None] + 2)
    first = np.ceil(about).astype(np.int64)
    doubtful = np.abs(about - np.rint(about)) < _NEAR_WHOLE
    doubtful &= (about > ends[0][:, None] - 2) & (about < ends[1][:, None] + 2)
    for channel in np.flatnonzero(doubtful.any(axis=1)):
        first[channel, doubtful[channel]] = _exactly(units[channel], biases[channel], levels[doubtful[channel]])
    return RealSteps(results, np.clip(first, ends[0][:, None], ends[1][:, None] + 1), ends[0], ends[1])


def _exactly(unit: Fraction, bias: Fraction, levels: np.ndarray) -> list[int]:
    """The first sum of each level; a sum between two levels belongs to the even one."""
    common = 2 * unit.denominator * bias.denominator
    step, start = int(unit * common), int(bias * common)
    found = []
    for level in levels.tolist():
        first, rest = divmod((2 * level - 1) * (common // 2) - start, step)
        found.append(first + (rest > 0 or level % 2))
    return found
