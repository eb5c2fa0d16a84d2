"""Operand triples for one floating-point operation: corners in all pairs, ties, cancellations and random values."""

import itertools
import random
import struct

from .float_values import CORNERS, NANS, is_nan, random_number, random_pattern

Triple = tuple[int, int, int]


def pattern(value: float) -> int:
    """Bits of the nearest single-precision number."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def number(bits: int) -> float:
    """Value of a single-precision pattern."""
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def tie_pair(pick: random.Random) -> Triple:
    """Two addends where the smaller is half a unit in the last place of the larger, give or take a little."""
    exponent = pick.randrange(30, 254)
    large = pick.getrandbits(1) << 31 | exponent << 23 | pick.getrandbits(23)
    small = pick.getrandbits(1) << 31 | (exponent - pick.choice((23, 24, 25))) << 23 | pick.choice((0, 0, 1, 0x400000))
    return large, small, 0


def cancelling_triple(pick: random.Random) -> Triple:
    """a * b + c where c nearly or exactly undoes the product: a product rounded on its own gives another sum."""
    a, b = (pick.randrange(90, 165) << 23 | pick.getrandbits(24) << 8 & 0x7FFFFF for _ in range(2))
    c = pattern(-number(a) * number(b)) ^ pick.choice((0, 0, 1, 2, 0x80000000))
    return a, b, c


def subnormal_product(pick: random.Random) -> Triple:
    """Factors whose product falls around the smallest normal number, and an addend of that size."""
    exponent = pick.randrange(1, 126)
    a = pick.getrandbits(1) << 31 | exponent << 23 | pick.getrandbits(23)
    b = (128 - exponent - pick.randrange(0, 4) if exponent < 124 else 1) << 23 | pick.getrandbits(23)
    return a, b, pick.getrandbits(1) << 31 | pick.getrandbits(24)


def overflowing_product(pick: random.Random) -> Triple:
    """Factors whose product falls around the largest number."""
    exponent = pick.randrange(128, 253)
    a = exponent << 23 | pick.getrandbits(23)
    b = (381 - exponent - pick.randrange(0, 2)) << 23 | pick.getrandbits(23)
    return a, b & 0x7F7FFFFF, pick.getrandbits(1) << 31 | 0x7F000000 | pick.getrandbits(23)


def conversion_value(pick: random.Random) -> Triple:
    """Numbers with a fraction near one half, and numbers near the ends of the integer ranges."""
    if pick.randrange(2):
        return pattern(pick.choice((0.5, 0.25, 0.75, 0.0)) + pick.randrange(-70, 70)), 0, 0
    return pick.getrandbits(1) << 31 | pick.choice((156, 157, 158, 159)) << 23 | pick.getrandbits(23), 0, 0


def triples(seed: str, allow_nan: bool) -> list[Triple]:
    """Operands for any operation with up to three sources."""
    pick = random.Random(seed)
    corners = (*CORNERS, *NANS) if allow_nan else CORNERS
    chosen: list[Triple] = [(a, b, pick.choice(corners)) for a, b in itertools.product(corners, repeat=2)]
    chosen += [(pick.choice(corners), pick.choice(corners), pick.choice(corners)) for _ in range(600)]
    for make in (tie_pair, cancelling_triple, subnormal_product, overflowing_product, conversion_value):
        chosen += [make(pick) for _ in range(150)]
    draw = random_pattern if allow_nan else random_number
    chosen += [(draw(pick), draw(pick), draw(pick)) for _ in range(300)]
    chosen += [(a, a, b) for a, b in ((draw(pick), draw(pick)) for _ in range(50))]
    if not allow_nan:
        chosen = [triple for triple in chosen if not any(map(is_nan, triple))]
    return chosen
