"""Arithmetic of the scalar XpulpV2 instructions on Python integers.

Registers are unsigned 32-bit values. Everything is written from the textual definition of each instruction, with
unbounded integers and a final reduction modulo 2^32.
"""

from collections.abc import Callable

MASK = 0xFFFFFFFF


def signed(value: int, width: int = 32) -> int:
    """Two's complement value of the low `width` bits."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def rotate_right(a: int, amount: int) -> int:
    """32-bit rotation by amount modulo 32."""
    doubled = a << 32 | a
    return (doubled >> (amount % 32)) & MASK


def find_first_one(a: int) -> int:
    """Index of the lowest set bit, 32 if there is none."""
    return next((index for index in range(32) if a >> index & 1), 32)


def find_last_one(a: int) -> int:
    """Index of the highest set bit, 32 if there is none."""
    return next((index for index in reversed(range(32)) if a >> index & 1), 32)


def count_leading_sign_bits(a: int) -> int:
    """Number of bits below bit 31 that repeat it without a gap; 0 for input 0."""
    if a == 0:
        return 0
    text = f"{a:032b}"
    return len(text) - len(text.lstrip(text[0])) - 1


def clamp(value: int, low: int, high: int) -> int:
    """The nearest value inside [low, high]."""
    return min(max(value, low), high)


def clip(a: int, exponent: int) -> int:
    """p.clip: the range of a signed number of `exponent` bits, [-1, 0] for exponent 0."""
    bound = 1 << exponent >> 1
    return clamp(signed(a), -bound if exponent else -1, bound - 1 if exponent else 0) & MASK


def clip_unsigned(a: int, exponent: int) -> int:
    """p.clipu: [0, 2^(exponent-1) - 1], always 0 for exponent 0."""
    return clamp(signed(a), 0, (1 << exponent >> 1) - 1 if exponent else 0)


def extract(a: int, position: int, width: int) -> int:
    """Sign-extended field."""
    return signed(a >> position, width) & MASK


def extract_unsigned(a: int, position: int, width: int) -> int:
    """Zero-extended field."""
    return a >> position & ((1 << width) - 1)


def field_mask(position: int, width: int) -> int:
    """Ones over the field."""
    return ((1 << width) - 1) << position & MASK


def insert(d: int, a: int, position: int, width: int) -> int:
    """Old destination with the field replaced by the low bits of the source."""
    mask = field_mask(position, width)
    return (d & ~mask) | ((a << position) & mask)


def half(value: int, upper: bool, is_signed: bool) -> int:
    """One 16-bit half of a register."""
    chosen = (value >> 16 if upper else value) & 0xFFFF
    return signed(chosen, 16) if is_signed else chosen


def normalise(total: int, shift: int, is_signed: bool, rounded: bool) -> int:
    """Round, wrap to 32 bits, then shift right arithmetically or logically."""
    if rounded and shift:
        total += 1 << (shift - 1)
    total &= MASK
    return ((signed(total) if is_signed else total) >> shift) & MASK


# name -> rd from (old rd, rs1, rs2)
REGISTER_OPERATIONS: dict[str, Callable[[int, int, int], int]] = {
    "p.abs": lambda d, a, b: abs(signed(a)) & MASK,
    "p.slet": lambda d, a, b: int(signed(a) <= signed(b)),
    "p.sletu": lambda d, a, b: int(a <= b),
    "p.min": lambda d, a, b: min(signed(a), signed(b)) & MASK,
    "p.minu": lambda d, a, b: min(a, b),
    "p.max": lambda d, a, b: max(signed(a), signed(b)) & MASK,
    "p.maxu": lambda d, a, b: max(a, b),
    "p.ror": lambda d, a, b: rotate_right(a, b),
    "p.ff1": lambda d, a, b: find_first_one(a),
    "p.fl1": lambda d, a, b: find_last_one(a),
    "p.clb": lambda d, a, b: count_leading_sign_bits(a),
    "p.cnt": lambda d, a, b: a.bit_count(),
    "p.exths": lambda d, a, b: signed(a, 16) & MASK,
    "p.exthz": lambda d, a, b: a & 0xFFFF,
    "p.extbs": lambda d, a, b: signed(a, 8) & MASK,
    "p.extbz": lambda d, a, b: a & 0xFF,
    "p.clipr": lambda d, a, b: clamp(signed(a), -signed(b) - 1, signed(b)) & MASK,
    "p.clipur": lambda d, a, b: clamp(signed(a), 0, signed(b)) & MASK,
    "p.mac": lambda d, a, b: (d + a * b) & MASK,
    "p.msu": lambda d, a, b: (d - a * b) & MASK,
}

# name -> rd from (old rd, rs1, position, width)
BIT_FIELD_OPERATIONS: dict[str, Callable[[int, int, int, int], int]] = {
    "p.extract": lambda d, a, position, width: extract(a, position, width),
    "p.extractu": lambda d, a, position, width: extract_unsigned(a, position, width),
    "p.insert": insert,
    "p.bclr": lambda d, a, position, width: a & ~field_mask(position, width),
    "p.bset": lambda d, a, position, width: a | field_mask(position, width),
}
