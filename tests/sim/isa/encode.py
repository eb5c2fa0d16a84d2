"""Bit layouts of the RISC-V instruction formats.

Every function takes register numbers and signed or unsigned Python integers, refuses a value that does not fit its
field, and returns the instruction word.
"""


def field(value: int, width: int, low: int) -> int:
    """Place an unsigned value into bits low+width-1..low."""
    if not 0 <= value < 1 << width:
        raise ValueError(f"{value} does not fit in {width} unsigned bits")
    return value << low


def signed_bits(value: int, width: int) -> int:
    """Two's complement image of a signed value of the given width."""
    if not -(1 << (width - 1)) <= value < 1 << (width - 1):
        raise ValueError(f"{value} does not fit in {width} signed bits")
    return value & ((1 << width) - 1)


def bits(value: int, high: int, low: int) -> int:
    """Bits high..low of a non-negative value."""
    return (value >> low) & ((1 << (high - low + 1)) - 1)


def r_type(opcode: int, f3: int, f7: int, rd: int, rs1: int, rs2: int) -> int:
    """Two source registers, one destination."""
    return (
        field(f7, 7, 25)
        | field(rs2, 5, 20)
        | field(rs1, 5, 15)
        | field(f3, 3, 12)
        | field(rd, 5, 7)
        | field(opcode, 7, 0)
    )


def r4_type(opcode: int, rounding: int, rd: int, rs1: int, rs2: int, rs3: int) -> int:
    """Fused multiply-add: a third source in bits 31:27, single precision in bits 26:25."""
    return r_type(opcode, rounding, field(rs3, 5, 2), rd, rs1, rs2)


def i_type(opcode: int, f3: int, rd: int, rs1: int, immediate: int) -> int:
    """Signed 12-bit immediate."""
    return u12_type(opcode, f3, rd, rs1, signed_bits(immediate, 12))


def u12_type(opcode: int, f3: int, rd: int, rs1: int, upper: int) -> int:
    """Unsigned 12-bit value in bits 31:20: CSR numbers and hardware-loop immediates."""
    return field(upper, 12, 20) | field(rs1, 5, 15) | field(f3, 3, 12) | field(rd, 5, 7) | field(opcode, 7, 0)


def s_type(opcode: int, f3: int, rs1: int, rs2: int, immediate: int) -> int:
    """Store: the signed 12-bit immediate is split around the register fields."""
    image = signed_bits(immediate, 12)
    return r_type(opcode, f3, bits(image, 11, 5), bits(image, 4, 0), rs1, rs2)


def b_type(opcode: int, f3: int, rs1: int, rs2: int, offset: int) -> int:
    """Conditional branch with an even signed 13-bit offset."""
    if offset % 2:
        raise ValueError(f"branch offset {offset} is odd")
    image = signed_bits(offset, 13)
    high = bits(image, 12, 12) << 6 | bits(image, 10, 5)
    low = bits(image, 4, 1) << 1 | bits(image, 11, 11)
    return r_type(opcode, f3, high, low, rs1, rs2)


def u_type(opcode: int, rd: int, upper: int) -> int:
    """Upper immediate: the value of bits 31:12."""
    return field(upper, 20, 12) | field(rd, 5, 7) | field(opcode, 7, 0)


def j_type(opcode: int, rd: int, offset: int) -> int:
    """Jump with an even signed 21-bit offset."""
    if offset % 2:
        raise ValueError(f"jump offset {offset} is odd")
    image = signed_bits(offset, 21)
    upper = bits(image, 20, 20) << 19 | bits(image, 10, 1) << 9 | bits(image, 11, 11) << 8 | bits(image, 19, 12)
    return u_type(opcode, rd, upper)
