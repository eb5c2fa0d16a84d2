"""Fixed-point scaling: TFLite's, as its reference kernels do it, and with a single rounding."""

import math
from collections.abc import Callable

import numpy as np

# Sums of 64 bits stay below this, so that their upper part times a multiplier fits 64 bits.
WIDE_SUM = 1 << 47
# Offsets of products are its multiples: the bits below hold a shift.
OFFSET_UNIT = 64


def quantize_multiplier(real: float) -> tuple[int, int]:
    """A positive real factor as (31-bit multiplier, exponent): real ≈ multiplier / 2^31 * 2^exponent."""
    if real == 0.0:
        return 0, 0
    mantissa, exponent = math.frexp(real)
    multiplier = math.floor(mantissa * (1 << 31) + 0.5)
    if multiplier == 1 << 31:
        multiplier //= 2
        exponent += 1
    if exponent < -31:
        return 0, 0
    return multiplier, exponent


def _of_each(function: Callable[[float], tuple[int, int]], reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pairs = [function(float(r)) for r in np.asarray(reals, np.float64).ravel()]
    return np.array([p[0] for p in pairs], np.int32), np.array([p[1] for p in pairs], np.int32)


def quantize_multipliers(reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vector form of :func:`quantize_multiplier`."""
    return _of_each(quantize_multiplier, reals)


def doubling_high_multiply(a: np.ndarray | int, b: np.ndarray | int, width: int = 31) -> np.ndarray:
    """High half of 2*a*b, rounded to nearest, ties away from zero towards plus infinity for negatives."""
    product, half = np.asarray(a, np.int64) * np.asarray(b, np.int64), 1 << (width - 1)
    nudged = product + np.where(product >= 0, half, 1 - half)
    quotient = np.abs(nudged) >> width
    return np.where(nudged >= 0, quotient, -quotient)


def rounding_shift(value: np.ndarray, bits: np.ndarray | int) -> np.ndarray:
    """Divide by 2^bits, rounding half away from zero."""
    value = np.asarray(value, np.int64)
    mask = (np.int64(1) << np.asarray(bits, np.int64)) - 1
    return (value >> bits) + ((value & mask) > ((mask >> 1) + (value < 0)))


def multiply(value: np.ndarray, multiplier: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """value * multiplier * 2^exponent with TFLite's two roundings."""
    exponent = np.asarray(exponent, np.int64)
    left, right = np.maximum(exponent, 0), np.maximum(-exponent, 0)
    return rounding_shift(doubling_high_multiply(np.asarray(value, np.int64) << left, multiplier), right)


def single_rounding_multiplier(real: float) -> tuple[int, int]:
    """A positive real factor as (31-bit multiplier, right shift of 1 to 62): real ≈ multiplier / 2^shift."""
    mantissa, exponent = math.frexp(real)
    shift = min(31 - exponent, 62)
    if shift < 1:
        raise OverflowError(f"the factor {real} is too large for a 64-bit product")
    multiplier = round(math.ldexp(mantissa, exponent + shift))
    return (multiplier // 2, shift - 1) if multiplier == 1 << 31 else (multiplier, shift)


def single_rounding_multipliers(reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vector form of :func:`single_rounding_multiplier`."""
    return _of_each(single_rounding_multiplier, reals)


def tie_free_multipliers(reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`single_rounding_multipliers`, but odd where they are not exact.

    A factor that 31 bits cannot hold has no ties. Its multiplier has none either, for no 32-bit value and a shift of 32
    or more, if it is odd; and it is nearer than 2^-30 all the same.
    """
    multipliers, shifts = single_rounding_multipliers(reals)
    scaled = np.ldexp(np.asarray(reals, np.float64).ravel(), shifts)
    odd = np.where(scaled > multipliers, multipliers + 1, multipliers - 1)
    return np.where((multipliers % 2 == 0) & (scaled != multipliers), odd, multipliers).astype(np.int32), shifts


def scale_half_up(value: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """value * multiplier / 2^shift, rounded to nearest, ties towards plus infinity."""
    if np.abs(value).max(initial=0) >= 1 << 31:
        return _scale_wide(np.asarray(value, np.int64), np.asarray(multiplier, np.int64), np.asarray(shift, np.int64))
    half = np.int64(1) << (np.asarray(shift, np.int64) - 1)
    return np.asarray((np.asarray(value, np.int64) * multiplier + half) >> shift)


def pack_offset(offset: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Offsets, multiples of `OFFSET_UNIT`, and shifts as one number for each channel."""
    return np.asarray(offset + shift).astype(np.int32)


def unpack_offset(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Offset and shift of a product."""
    both = np.asarray(packed, np.int64)
    shift = both & (OFFSET_UNIT - 1)
    return both - shift, shift


def _scale_wide(value: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The same for values up to `WIDE_SUM`, whose product 64 bits cannot hold: upper and lower part on their own."""
    less = np.minimum(shift - 1, 16)
    high, low = value >> less, value & ((np.int64(1) << less) - 1)
    rest = (low * multiplier + (np.int64(1) << (shift - 1))) >> less
    return np.asarray((high * multiplier + rest) >> (shift - less))


def scale_half_even(value: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """value * multiplier / 2^shift, rounded to nearest, ties to even."""
    return shift_half_even(np.asarray(value, np.int64) * multiplier, shift)


def scale_offset_half_even(value: np.ndarray, multiplier: np.ndarray, packed: np.ndarray) -> np.ndarray:
    """(value * multiplier + offset) / 2^shift, rounded to nearest, ties to even."""
    offset, shift = unpack_offset(packed)
    return shift_half_even(np.asarray(value, np.int64) * multiplier + offset, shift)


def add_half_even(
    a: np.ndarray, mul_a: int, b: np.ndarray, mul_b: int, shift: int, zero_point: int, low: int, high: int
) -> np.ndarray:
    """The sum of two products / 2^shift, rounded to nearest, ties to even; then the zero point and the limits."""
    return np.clip(shift_half_even(a * mul_a + b * mul_b, shift) + zero_point, low, high)


def shift_half_even(product: np.ndarray, shift: np.ndarray | int) -> np.ndarray:
    """product / 2^shift for shift >= 1, rounded to nearest, ties to even."""
    one = np.int64(1)
    half = one << (np.asarray(shift, np.int64) - 1)
    quotient = product >> shift
    rest = product & (half + (half - one))
    return np.asarray(quotient + ((rest > half) | ((rest == half) & (quotient & one == one))))
