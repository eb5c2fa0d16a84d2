"""Encoders for RV32IMF, Zicsr and Zifencei by mnemonic."""

from .encode import b_type, i_type, j_type, r4_type, r_type, s_type, u12_type, u_type

# mnemonic -> (f3, f7), opcode 0x33
REGISTER_OPS: dict[str, tuple[int, int]] = {
    "add": (0, 0x00),
    "sub": (0, 0x20),
    "sll": (1, 0x00),
    "slt": (2, 0x00),
    "sltu": (3, 0x00),
    "xor": (4, 0x00),
    "srl": (5, 0x00),
    "sra": (5, 0x20),
    "or": (6, 0x00),
    "and": (7, 0x00),
    "mul": (0, 0x01),
    "mulh": (1, 0x01),
    "mulhsu": (2, 0x01),
    "mulhu": (3, 0x01),
    "div": (4, 0x01),
    "divu": (5, 0x01),
    "rem": (6, 0x01),
    "remu": (7, 0x01),
}
IMMEDIATE_OPS: dict[str, int] = {"addi": 0, "slti": 2, "sltiu": 3, "xori": 4, "ori": 6, "andi": 7}
SHIFT_OPS: dict[str, tuple[int, int]] = {"slli": (1, 0x00), "srli": (5, 0x00), "srai": (5, 0x20)}
LOADS: dict[str, tuple[int, int]] = {"lb": (0, 1), "lh": (1, 2), "lw": (2, 4), "lbu": (4, 1), "lhu": (5, 2)}
STORES: dict[str, tuple[int, int]] = {"sb": (0, 1), "sh": (1, 2), "sw": (2, 4)}
BRANCHES: dict[str, int] = {"beq": 0, "bne": 1, "blt": 4, "bge": 5, "bltu": 6, "bgeu": 7}
CSR_OPS: dict[str, int] = {"csrrw": 1, "csrrs": 2, "csrrc": 3, "csrrwi": 5, "csrrsi": 6, "csrrci": 7}
CSRS: dict[str, int] = {"fflags": 0x001, "frm": 0x002, "fcsr": 0x003}

# Rounded arithmetic: mnemonic -> f7
FLOAT_ARITHMETIC: dict[str, int] = {"fadd.s": 0x00, "fsub.s": 0x04, "fmul.s": 0x08, "fdiv.s": 0x0C}
# Two float sources with a fixed f3: mnemonic -> (f7, f3); the compares write an integer register
FLOAT_FIXED: dict[str, tuple[int, int]] = {
    "fsgnj.s": (0x10, 0),
    "fsgnjn.s": (0x10, 1),
    "fsgnjx.s": (0x10, 2),
    "fmin.s": (0x14, 0),
    "fmax.s": (0x14, 1),
}
FLOAT_COMPARES: dict[str, tuple[int, int]] = {"fle.s": (0x50, 0), "flt.s": (0x50, 1), "feq.s": (0x50, 2)}
# One source: mnemonic -> (f7, rs2 field, fixed f3 or None when f3 is the rounding mode)
FLOAT_UNARY: dict[str, tuple[int, int, int | None]] = {
    "fsqrt.s": (0x2C, 0, None),
    "fcvt.w.s": (0x60, 0, None),
    "fcvt.wu.s": (0x60, 1, None),
    "fcvt.s.w": (0x68, 0, None),
    "fcvt.s.wu": (0x68, 1, None),
    "fmv.x.w": (0x70, 0, 0),
    "fclass.s": (0x70, 0, 1),
    "fmv.w.x": (0x78, 0, 0),
}
FUSED: dict[str, int] = {"fmadd.s": 0x43, "fmsub.s": 0x47, "fnmsub.s": 0x4B, "fnmadd.s": 0x4F}

ROUNDING_MODES = {"rne": 0, "rtz": 1, "rdn": 2, "rup": 3, "rmm": 4, "dyn": 7}
FENCE = i_type(0x0F, 0, 0, 0, 0x0FF)
FENCE_I = i_type(0x0F, 1, 0, 0, 0)


def register_op(name: str, rd: int, rs1: int, rs2: int) -> int:
    """ALU or multiply/divide operation on two registers."""
    f3, f7 = REGISTER_OPS[name]
    return r_type(0x33, f3, f7, rd, rs1, rs2)


def immediate_op(name: str, rd: int, rs1: int, immediate: int) -> int:
    """ALU operation with a signed 12-bit immediate."""
    return i_type(0x13, IMMEDIATE_OPS[name], rd, rs1, immediate)


def shift_op(name: str, rd: int, rs1: int, amount: int) -> int:
    """Shift by a constant 0..31."""
    f3, f7 = SHIFT_OPS[name]
    return r_type(0x13, f3, f7, rd, rs1, amount)


def load(name: str, rd: int, rs1: int, offset: int) -> int:
    """Integer load."""
    return i_type(0x03, LOADS[name][0], rd, rs1, offset)


def store(name: str, rs2: int, rs1: int, offset: int) -> int:
    """Integer store."""
    return s_type(0x23, STORES[name][0], rs1, rs2, offset)


def float_load(rd: int, rs1: int, offset: int) -> int:
    """flw rd, offset(rs1)."""
    return i_type(0x07, 2, rd, rs1, offset)


def float_store(rs2: int, rs1: int, offset: int) -> int:
    """fsw rs2, offset(rs1)."""
    return s_type(0x27, 2, rs1, rs2, offset)


def branch(name: str, rs1: int, rs2: int, offset: int) -> int:
    """Conditional branch relative to its own address."""
    return b_type(0x63, BRANCHES[name], rs1, rs2, offset)


def lui(rd: int, upper: int) -> int:
    """rd = upper << 12."""
    return u_type(0x37, rd, upper)


def auipc(rd: int, upper: int) -> int:
    """rd = pc + (upper << 12)."""
    return u_type(0x17, rd, upper)


def jal(rd: int, offset: int) -> int:
    """Jump relative to its own address and link."""
    return j_type(0x6F, rd, offset)


def jalr(rd: int, rs1: int, offset: int) -> int:
    """Jump to rs1 + offset with bit 0 cleared, and link."""
    return i_type(0x67, 0, rd, rs1, offset)


def csr_op(name: str, rd: int, csr: int, source: int) -> int:
    """CSR access; source is a register number or, in the immediate forms, a constant 0..31."""
    return u12_type(0x73, CSR_OPS[name], rd, source, csr)


def float_arithmetic(name: str, rd: int, rs1: int, rs2: int, rounding: int) -> int:
    """Rounded operation on two float registers."""
    return r_type(0x53, rounding, FLOAT_ARITHMETIC[name], rd, rs1, rs2)


def float_fixed(name: str, rd: int, rs1: int, rs2: int) -> int:
    """Sign injection, minimum, maximum or comparison."""
    f7, f3 = {**FLOAT_FIXED, **FLOAT_COMPARES}[name]
    return r_type(0x53, f3, f7, rd, rs1, rs2)


def float_unary(name: str, rd: int, rs1: int, rounding: int) -> int:
    """Square root, conversion, move or classification; the last two ignore the rounding mode."""
    f7, rs2, f3 = FLOAT_UNARY[name]
    return r_type(0x53, rounding if f3 is None else f3, f7, rd, rs1, rs2)


def fused(name: str, rd: int, rs1: int, rs2: int, rs3: int, rounding: int) -> int:
    """Fused multiply-add family."""
    return r4_type(FUSED[name], rounding, rd, rs1, rs2, rs3)


def load_constant(rd: int, value: int) -> list[int]:
    """Two words that put any 32-bit value into rd."""
    value &= 0xFFFFFFFF
    low = (value & 0xFFF) - (0x1000 if value & 0x800 else 0)
    return [lui(rd, ((value - low) >> 12) & 0xFFFFF), immediate_op("addi", rd, rd, low)]
