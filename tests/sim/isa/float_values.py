"""Single-precision bit patterns at which implementations differ, and random ones between them."""

import random

CORNERS = (
    0x00000000,  # zero
    0x80000000,
    0x3F800000,  # one
    0xBF800000,
    0x3F000000,  # one half: ties of integer conversion
    0x3FC00000,
    0xBFC00000,
    0x40200000,
    0x7F800000,  # infinities
    0xFF800000,
    0x00000001,  # smallest and largest subnormal
    0x80000001,
    0x007FFFFF,
    0x807FFFFF,
    0x00800000,  # smallest and largest normal
    0x80800000,
    0x7F7FFFFF,
    0xFF7FFFFF,
    0x4B000001,  # where a unit in the last place is one
    0x4EFFFFFF,  # around the ends of both 32-bit integer ranges
    0x4F000000,
    0xCF000000,
    0xCF000001,
    0x4F7FFFFF,
    0x4F800000,
    0xBF7FFFFF,
    0x3EAAAAAB,
    0x40490FDB,
)
NANS = (0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFBFFFFF, 0x7FFFFFFF)


def is_nan(pattern: int) -> bool:
    """Exponent of all ones and a fraction."""
    return pattern & 0x7FFFFFFF > 0x7F800000


def random_number(pick: random.Random) -> int:
    """A corner, an everyday magnitude, a near-limit magnitude, or any bits; never a NaN."""
    kind = pick.randrange(4)
    if kind == 0:
        return pick.choice(CORNERS)
    if kind == 1:
        return pick.getrandbits(1) << 31 | pick.randrange(110, 160) << 23 | pick.getrandbits(23)
    if kind == 2:
        return (
            pick.getrandbits(1) << 31 | pick.choice((0, 1, 2, 63, 64, 190, 191, 253, 254)) << 23 | pick.getrandbits(23)
        )
    pattern = pick.getrandbits(32)
    return pattern & 0xFF7FFFFF if is_nan(pattern) else pattern


def random_pattern(pick: random.Random) -> int:
    """Any single-precision pattern, NaN included."""
    return pick.choice(NANS) if pick.randrange(12) == 0 else random_number(pick)
