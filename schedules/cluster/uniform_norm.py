"""RMSNorm whose weights are all the same: a row's result is one product by what belongs to its root, and a shift.

Roots of bytes are few, so that the factor of each is a constant, and whether factor, summand and shift give the right
result is asked here, for every value that a row of that root may hold.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from schedules.cluster.base import Arguments, Box, Fields, Layer, schedule
from schedules.cluster.rows import RowKernel, shared_rows
from schedules.kernel_cycles import Work, work
from schedules.kernel_numbers import TYPES
from tvm_pulp.qnn.rows import RowNormAttributes
from tvm_pulp.qnn.tensor_spec import BYTES

# Of factors, the largest first; how far the one that is taken may be from the nearest; summands, in sixteenths of what
# a division that rounds towards 0 is off by.
_SHIFTS, _AWAY, _SUMMANDS = range(24, 15, -1), 4, range(17)


@dataclass(frozen=True)
class RootFactors:
    """y = (x * factors[root] + add) >> shift, clipped."""

    factors: np.ndarray
    add: int
    shift: int


@lru_cache(maxsize=256)
def root_factors(weight: int, shift: int, levels: int, columns: int, low: int, high: int) -> RootFactors | None:
    """Factors with which the norm of rows of values from `low` to `high` is exact, or None."""
    most = math.isqrt(max(low * low, high * high) + 1)
    x, root = np.arange(low, high + 1)[:, None], np.arange(1, most + 1)
    # The mean of squares plus one is below (root + 1)^2: no value of the row is larger than that allows.
    there = x * x < columns * ((root + 1) ** 2 - 1)
    product = x * weight
    value = np.sign(product) * (np.abs(product) // root) >> shift
    half = levels // 2
    for found in _SHIFTS:
        nearest = np.rint(weight * 2.0 ** (found - shift) / root).astype(np.int64)
        if np.abs(np.where(there, x * (np.abs(nearest) + _AWAY), 0)).max() >= (1 << 31) - (1 << found):
            continue
        tried = nearest + np.arange(-_AWAY, _AWAY + 1)[:, None, None]
        # What is added has to lie between these; what is clipped anyhow has a bound on one side only.
        least = np.where(there & (value >= -half), np.minimum(value, half - 1) << found, -(1 << 62)) - x * tried
        best = np.where(there & (value < half - 1), (np.maximum(value, -half) + 1) << found, 1 << 62) - x * tried
        least, best = least.max(axis=1), best.min(axis=1)
        for sixteenths in _SUMMANDS:
            add = (sixteenths << found) >> (shift + 4)
            right = (least <= add) & (add < best)
            if right.any(axis=0).all():
                chosen = tried[:, 0, :][right.argmax(axis=0), np.arange(most)]
                return RootFactors(np.concatenate([[0], chosen]).astype(np.int32), add, found)
    return None


def applies_uniform(layer: Layer) -> bool:
    """Bytes whose weights are all the same, at most 256 levels."""
    weight, levels = layer.inputs[1].data, RowNormAttributes.of(layer).levels
    if layer.inputs[0].spec.dtype not in BYTES or weight is None or levels > 256 or levels % 2:
        return False
    return bool((weight == weight.reshape(-1)[0]).all()) and _factors(layer) is not None


def _factors(layer: Layer) -> RootFactors | None:
    x, a = layer.inputs[0].spec, RowNormAttributes.of(layer)
    return root_factors(int(layer.inputs[1].values.reshape(-1)[0]), a.shift, a.levels, x.shape[-1], *x.range)


@schedule("rms_norm", applies_uniform, first=True)
class UniformNormKernel(RowKernel):
    kernel = "uniform_norm"

    def fields(self, call: Arguments, box: Box) -> Fields:
        found = _factors(self.layer)
        assert found is not None
        factors = call.load_constant("factors", found.factors)
        return self.rows(call, box) | {"factors": factors, "add": found.add, "shift": found.shift}


@work("uniform_norm")
def uniform_norm_work(f: Fields, cores: int) -> Work:
    """One signed row of a power of two of columns has the shortest code."""
    columns = f["columns"]
    even = columns & (columns - 1) == 0 and cores & (cores - 1) == 0 and columns >= 8 * cores
    if f["rows"] == 1 and f["x_type"] == TYPES["int8"] and even:
        return {"token_call": 1, "token_element": columns // cores, "token_statistic": columns}
    return shared_rows(f, cores)
