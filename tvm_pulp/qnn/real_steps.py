"""Sums at which real numbers `unit * sum + bias`, rounded half to even, step from one result to the next: exactly."""

from fractions import Fraction

import numpy as np

from tvm_pulp.qnn.staircase import Staircase

# A sum computed in double precision is right unless it is so near to a whole number.
_NEAR_WHOLE = 2.0**-12


def real_steps(
    units: list[Fraction], biases: list[Fraction], zero_point: int, limits: tuple[int, int], ends: np.ndarray
) -> Staircase:
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
    return Staircase.of_steps(results, np.clip(first, ends[0][:, None], ends[1][:, None] + 1), *ends)


def _exactly(unit: Fraction, bias: Fraction, levels: np.ndarray) -> list[int]:
    """The first sum of each level; a sum between two levels belongs to the even one."""
    common = 2 * unit.denominator * bias.denominator
    step, start = int(unit * common), int(bias * common)
    found = []
    for level in levels.tolist():
        first, rest = divmod((2 * level - 1) * (common // 2) - start, step)
        found.append(first + (rest > 0 or level % 2))
    return found
