"""Every F operation in every rounding mode gives Unicorn's value and exception flags on corner and random operands."""

import struct

import pytest

from . import rv32_encode as rv
from .execute import Executor, run_on_simulator, run_on_unicorn
from .float_operands import Triple, triples
from .image import L2_DATA, Encoded, Region, join_code, make_image

RESULTS = 0x1C180000
INVALID = 0x10
STATIC_MODES = {name: value for name, value in rv.ROUNDING_MODES.items() if name != "dyn"}
TO_INTEGER = (*rv.FLOAT_COMPARES, "fcvt.w.s", "fcvt.wu.s", "fmv.x.w", "fclass.s")
FROM_INTEGER = ("fcvt.s.w", "fcvt.s.wu", "fmv.w.x")
OPERATIONS = (*rv.FLOAT_ARITHMETIC, *rv.FUSED, *rv.FLOAT_FIXED, *rv.FLOAT_COMPARES, *rv.FLOAT_UNARY)


def operation_word(name: str, mode: int) -> int:
    """The operation on f1, f2, f3 or x1, with its result in f4 or x4."""
    if name in rv.FLOAT_ARITHMETIC:
        return rv.float_arithmetic(name, 4, 1, 2, mode)
    if name in rv.FUSED:
        return rv.fused(name, 4, 1, 2, 3, mode)
    if name in rv.FLOAT_UNARY:
        return rv.float_unary(name, 4, 1, mode)
    return rv.float_fixed(name, 4, 1, 2)


def run(execute: Executor, name: str, operands: list[Triple], mode: int, dynamic: bool) -> list[tuple[int, int]]:
    """Result and flags of the operation for each triple, computed by one loop over a table."""
    body = [
        *(rv.float_load(register, 10, 4 * (register - 1)) for register in (1, 2, 3)),
        rv.load("lw", 1, 10, 0),
        rv.csr_op("csrrwi", 0, rv.CSRS["fflags"], 0),
        operation_word(name, rv.ROUNDING_MODES["dyn"] if dynamic else mode),
        rv.csr_op("csrrs", 5, rv.CSRS["fflags"], 0),
        rv.store("sw", 4, 11, 0) if name in TO_INTEGER else rv.float_store(4, 11, 0),
        rv.store("sw", 5, 11, 4),
        rv.immediate_op("addi", 10, 10, 12),
        rv.immediate_op("addi", 11, 11, 8),
    ]
    words = [
        *rv.load_constant(10, L2_DATA),
        *rv.load_constant(11, RESULTS),
        *rv.load_constant(12, L2_DATA + 12 * len(operands)),
        # A static mode must not look at frm, so frm holds another one then.
        rv.csr_op("csrrwi", 0, rv.CSRS["frm"], mode if dynamic else (mode + 1) % 5),
        *body,
        rv.branch("bne", 10, 12, -4 * len(body)),
    ]
    table = b"".join(struct.pack("<3I", *triple) for triple in operands)
    image = make_image(join_code(Encoded("", word) for word in words), [Region(L2_DATA, table)])
    (content,) = execute(image, [(RESULTS, 8 * len(operands))])
    return list(struct.iter_unpack("<2I", content))


def is_invalid_product(name: str, triple: Triple) -> bool:
    """Infinity times zero: invalid whatever is added, which Unicorn forgets when a quiet NaN is."""
    return name in rv.FUSED and sorted(value & 0x7FFFFFFF for value in triple[:2]) == [0, 0x7F800000]


def oracle(name: str, operands: list[Triple], mode: int, dynamic: bool) -> list[tuple[int, int]]:
    """Unicorn's results, with the invalid flag of the RISC-V manual."""
    outcomes = run(run_on_unicorn, name, operands, mode, dynamic)
    return [
        (value, flags | INVALID) if is_invalid_product(name, triple) else (value, flags)
        for triple, (value, flags) in zip(operands, outcomes, strict=True)
    ]


@pytest.mark.sample(41)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("mode", STATIC_MODES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_agrees_with_unicorn(name: str, mode: str, dynamic: bool) -> None:
    # Unicorn follows an older rule for NaNs in fmin and fmax.
    operands = triples(f"{name} {mode} {dynamic}", allow_nan=name not in ("fmin.s", "fmax.s"))
    expected = oracle(name, operands, STATIC_MODES[mode], dynamic)
    got = run(run_on_simulator, name, operands, STATIC_MODES[mode], dynamic)
    differences = [
        f"{name} {mode} of {', '.join(f'{value:#010x}' for value in triple)}: "
        f"expected {want[0]:#010x} flags {want[1]:#04x}, got {have[0]:#010x} flags {have[1]:#04x}"
        for triple, want, have in zip(operands, expected, got, strict=True)
        if want != have
    ]
    assert not differences, f"{len(differences)} of {len(operands)} differ\n" + "\n".join(differences[:8])


def test_oracle_is_exact_on_values_worked_out_by_hand() -> None:
    cases: list[tuple[str, str, Triple, tuple[int, int]]] = [
        # 1 + 2^-24 is a tie: to even, and away
        ("fadd.s", "rne", (0x3F800000, 0x33800000, 0), (0x3F800000, 0x01)),
        ("fadd.s", "rmm", (0x3F800000, 0x33800000, 0), (0x3F800001, 0x01)),
        ("fadd.s", "rup", (0x3F800000, 0x00000001, 0), (0x3F800001, 0x01)),
        # division by zero, invalid, and overflow with its two outcomes
        ("fdiv.s", "rne", (0x3F800000, 0x80000000, 0), (0xFF800000, 0x08)),
        ("fsqrt.s", "rne", (0xBF800000, 0, 0), (0x7FC00000, 0x10)),
        ("fmul.s", "rne", (0x7F7FFFFF, 0x7F7FFFFF, 0), (0x7F800000, 0x05)),
        ("fmul.s", "rtz", (0x7F7FFFFF, 0x7F7FFFFF, 0), (0x7F7FFFFF, 0x05)),
        # infinity times zero is invalid even when a quiet NaN is added
        ("fmadd.s", "rne", (0x7F800000, 0x00000000, 0x7FC00000), (0x7FC00000, 0x10)),
        ("fcvt.w.s", "rne", (0x7FC00000, 0, 0), (0x7FFFFFFF, 0x10)),
        ("fcvt.wu.s", "rtz", (0xBF000000, 0, 0), (0x00000000, 0x01)),
        ("fcvt.wu.s", "rdn", (0xBF000000, 0, 0), (0x00000000, 0x10)),
        ("fcvt.w.s", "rmm", (0x40200000, 0, 0), (0x00000003, 0x01)),
        ("fcvt.s.wu", "rne", (0xFFFFFFFF, 0, 0), (0x4F800000, 0x01)),
        ("fclass.s", "rne", (0x7F800001, 0, 0), (0x00000100, 0x00)),
        ("feq.s", "rne", (0x7FC00000, 0, 0), (0, 0x00)),
        ("flt.s", "rne", (0x7FC00000, 0, 0), (0, 0x10)),
    ]
    for name, mode, triple, expected in cases:
        (got,) = oracle(name, [triple], STATIC_MODES[mode], dynamic=False)
        assert got == expected, f"{name} {mode} {triple}: {got}"
