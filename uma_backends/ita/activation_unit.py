"""Functions of a byte that the activation unit computes: constants for which it gives exactly a table, where there are.

A table of 256 bytes is what is left of an activation and its requantization in canonical networks. The unit's GELU is
`q * ((min(|q|, -b) + b)^2 * sign + c * (1 + sign))`, requantized; behind zero it is a line, so that a fit of the
positive side gives `c` and the multiplier for every `b`, and few neighbours of them are left to try.
"""

from functools import lru_cache

import numpy as np

from uma_backends.ita.geometry import LARGEST_MULTIPLIER
from uma_backends.ita.reference import Activation, ItaGelu, ItaRequantization, Relu, wrap

_BYTES = np.arange(-128, 128)
# Candidates are tried on these first.
_PROBES = np.arange(3, 256, 11)
# Larger ones overflow 16 bits in the public reference model.
_LARGEST_B = 181
_LARGEST_RELU_SHIFT = 15
_LARGEST_GELU_SHIFT = 30


def unit_for(table: np.ndarray) -> Activation | None:
    """The unit's constants for a table over -128..127, or None."""
    return _unit_for(np.ascontiguousarray(table.reshape(-1).astype(np.int8)).tobytes())


@lru_cache(maxsize=256)
def _unit_for(data: bytes) -> Activation | None:
    table = np.frombuffer(data, np.int8).astype(np.int64)
    return _relu(table) or _gelu(table)


def _relu(table: np.ndarray) -> Relu | None:
    add = int(table[128])
    if (table[:128] != add).any():
        return None
    multipliers, positive = np.arange(LARGEST_MULTIPLIER + 1), _BYTES[128:]
    for shift in range(_LARGEST_RELU_SHIFT + 1):
        products = multipliers[:, None] * positive
        rounded = (products + ((1 << shift) >> 1)) >> shift
        found = np.flatnonzero((np.clip(rounded + add, -128, 127) == table[128:]).all(axis=1))
        if found.size:
            return Relu(ItaRequantization(int(found[0]), shift, add))
    return None


def _gelu(table: np.ndarray) -> ItaGelu | None:
    """Minus GELU: falls with a line for large inputs, a small hill below zero."""
    add = int(table[128])
    values = table - add
    for b in range(1, _LARGEST_B + 1):
        fitted = _fit(values, table, b)
        if fitted is None:
            continue
        found = _try_neighbours(table, add, b, *fitted)
        if found is not None:
            return found
    return None


def _fit(values: np.ndarray, table: np.ndarray, b: int) -> tuple[float, float] | None:
    """Multiplier and `c` times it by least squares over what is not saturated; None where the shape is another."""
    q = _BYTES[129:]
    free = (table[129:] > -128) & (table[129:] < 127)
    if free.sum() < 8:
        return None
    q, y = q[free].astype(np.float64), values[129:][free]
    square = (np.minimum(q, b) - b) ** 2
    # y = q * (square * r + 2 c r)
    terms = np.stack([q * square, 2 * q], axis=1)
    (r, cr), *_ = np.linalg.lstsq(terms, y, rcond=None)
    if r <= 0 or cr >= 0 or np.abs(terms @ np.array([r, cr]) - y).max() > 1.0:
        return None
    below = -_BYTES[:128].astype(np.float64)
    hill = below * (np.minimum(below, b) - b) ** 2 * r
    saturated = np.clip(hill + table[128], -128, 127)
    return (float(r), float(cr)) if np.abs(saturated - table[:128]).max() <= 1.5 else None


def _try_neighbours(table: np.ndarray, add: int, b: int, r: float, cr: float) -> ItaGelu | None:
    shift = min(_LARGEST_GELU_SHIFT, int(np.floor(np.log2(LARGEST_MULTIPLIER / (1.25 * r)))))
    if shift < 0:
        return None
    square = (np.minimum(np.abs(_BYTES), b) - b) ** 2
    middle = r * 2**shift
    order = sorted(range(max(1, int(middle * 0.75)), min(255, int(middle * 1.25)) + 1), key=lambda m: abs(m - middle))
    for multiplier in order:
        centre = cr * 2**shift / multiplier
        reach = max(3, int(abs(centre) * 0.012))
        c = np.arange(int(centre) - reach, int(centre) + reach + 1)
        c = c[(c < 0) & (c >= -(1 << 15))]
        for places in (_PROBES, np.arange(256)):
            q = _BYTES[places]
            polynomial = square[None, places] + c[:, None]
            erf = np.where(q < 0, -polynomial, polynomial)
            products = wrap((q * (erf + c[:, None])).astype(np.int64)) * multiplier
            rounded = (products + ((1 << shift) >> 1)) >> shift
            c = c[(np.clip(rounded + add, -128, 127) == table[places]).all(axis=1)]
        if c.size:
            return ItaGelu(-b, int(c[0]), ItaRequantization(multiplier, shift, add))
    return None
