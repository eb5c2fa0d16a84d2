"""Encoders for every RV32FC compressed instruction.

Registers are given by their full number; the three-bit fields of the short forms accept x8..x15 only.
"""

from .encode import bits, field, signed_bits


def _short(register: int) -> int:
    if not 8 <= register <= 15:
        raise ValueError(f"x{register} has no three-bit name")
    return register - 8


def _multiple(value: int, step: int) -> int:
    if value % step:
        raise ValueError(f"{value} is not a multiple of {step}")
    return value


def _ci(f3: int, quadrant: int, rd: int, six: int) -> int:
    return f3 << 13 | bits(six, 5, 5) << 12 | field(rd, 5, 7) | bits(six, 4, 0) << 2 | quadrant


def addi4spn(rd: int, offset: int) -> int:
    """c.addi4spn rd', sp, offset (4..1020)."""
    if not 0 < _multiple(offset, 4) < 1024:
        raise ValueError(f"c.addi4spn offset {offset}")
    return (
        bits(offset, 5, 4) << 11
        | bits(offset, 9, 6) << 7
        | bits(offset, 2, 2) << 6
        | bits(offset, 3, 3) << 5
        | _short(rd) << 2
    )


# c.lw, c.flw, c.sw, c.fsw share one layout; name -> f3
SHORT_MEMORY = {"c.lw": 2, "c.flw": 3, "c.sw": 6, "c.fsw": 7}


def short_memory(name: str, data: int, base: int, offset: int) -> int:
    """Word access at base' + offset (0..124)."""
    field(_multiple(offset, 4), 7, 0)
    return (
        SHORT_MEMORY[name] << 13
        | bits(offset, 5, 3) << 10
        | _short(base) << 7
        | bits(offset, 2, 2) << 6
        | bits(offset, 6, 6) << 5
        | _short(data) << 2
    )


def nop() -> int:
    """c.nop."""
    return 0x0001


def addi(rd: int, immediate: int) -> int:
    """c.addi rd, immediate (not zero)."""
    return _ci(0, 1, rd, signed_bits(immediate, 6))


def li(rd: int, immediate: int) -> int:
    """c.li rd, immediate."""
    return _ci(2, 1, rd, signed_bits(immediate, 6))


def lui(rd: int, upper: int) -> int:
    """c.lui rd, upper: signed, not zero, in units of 4096."""
    if rd in (0, 2) or upper == 0:
        raise ValueError("c.lui needs rd other than x0 and sp and an immediate other than 0")
    return _ci(3, 1, rd, signed_bits(upper, 6))


def addi16sp(immediate: int) -> int:
    """c.addi16sp immediate (-512..496, not zero)."""
    image = signed_bits(_multiple(immediate, 16), 10)
    if image == 0:
        raise ValueError("c.addi16sp 0 is reserved")
    low = bits(image, 4, 4) << 4 | bits(image, 6, 6) << 3 | bits(image, 8, 7) << 1 | bits(image, 5, 5)
    return _ci(3, 1, 2, bits(image, 9, 9) << 5 | low)


def shift_right(name: str, rd: int, amount: int) -> int:
    """c.srli or c.srai rd', amount (1..31)."""
    function = {"c.srli": 0, "c.srai": 1}[name]
    return _ci(4, 1, function << 3 | _short(rd), field(amount, 5, 0))


def andi(rd: int, immediate: int) -> int:
    """c.andi rd', immediate."""
    return _ci(4, 1, 2 << 3 | _short(rd), signed_bits(immediate, 6))


SHORT_ARITHMETIC = {"c.sub": 0, "c.xor": 1, "c.or": 2, "c.and": 3}


def short_arithmetic(name: str, rd: int, rs2: int) -> int:
    """rd' = rd' op rs2'."""
    return _ci(4, 1, 3 << 3 | _short(rd), SHORT_ARITHMETIC[name] << 3 | _short(rs2))


def jump(name: str, offset: int) -> int:
    """c.j or c.jal with an even signed 12-bit offset."""
    image = signed_bits(_multiple(offset, 2), 12)
    scrambled = (
        bits(image, 11, 11) << 10
        | bits(image, 4, 4) << 9
        | bits(image, 9, 8) << 7
        | bits(image, 10, 10) << 6
        | bits(image, 6, 6) << 5
        | bits(image, 7, 7) << 4
        | bits(image, 3, 1) << 1
        | bits(image, 5, 5)
    )
    return {"c.jal": 1, "c.j": 5}[name] << 13 | scrambled << 2 | 1


def branch(name: str, rs1: int, offset: int) -> int:
    """c.beqz or c.bnez rs1' with an even signed 9-bit offset."""
    image = signed_bits(_multiple(offset, 2), 9)
    high = bits(image, 8, 8) << 2 | bits(image, 4, 3)
    low = bits(image, 7, 6) << 3 | bits(image, 2, 1) << 1 | bits(image, 5, 5)
    return {"c.beqz": 6, "c.bnez": 7}[name] << 13 | high << 10 | _short(rs1) << 7 | low << 2 | 1


def slli(rd: int, amount: int) -> int:
    """c.slli rd, amount (1..31)."""
    return _ci(0, 2, rd, field(amount, 5, 0))


def load_sp(name: str, rd: int, offset: int) -> int:
    """c.lwsp (rd not x0) or c.flwsp at sp + offset (0..252)."""
    field(_multiple(offset, 4), 8, 0)
    if name == "c.lwsp" and rd == 0:
        raise ValueError("c.lwsp x0 is reserved")
    six = bits(offset, 5, 5) << 5 | bits(offset, 4, 2) << 2 | bits(offset, 7, 6)
    return _ci({"c.lwsp": 2, "c.flwsp": 3}[name], 2, rd, six)


def store_sp(name: str, rs2: int, offset: int) -> int:
    """c.swsp or c.fswsp at sp + offset (0..252)."""
    field(_multiple(offset, 4), 8, 0)
    scrambled = bits(offset, 5, 2) << 2 | bits(offset, 7, 6)
    return {"c.swsp": 6, "c.fswsp": 7}[name] << 13 | scrambled << 7 | field(rs2, 5, 2) | 2


def _cr(f4: int, rd: int, rs2: int) -> int:
    return f4 << 12 | field(rd, 5, 7) | field(rs2, 5, 2) | 2


def jr(rs1: int) -> int:
    """c.jr rs1 (not x0)."""
    return _cr(8, rs1, 0)


def jalr(rs1: int) -> int:
    """c.jalr rs1 (not x0)."""
    return _cr(9, rs1, 0)


def mv(rd: int, rs2: int) -> int:
    """c.mv rd, rs2 (neither x0)."""
    return _cr(8, rd, rs2)


def add(rd: int, rs2: int) -> int:
    """c.add rd, rs2 (neither x0)."""
    return _cr(9, rd, rs2)
