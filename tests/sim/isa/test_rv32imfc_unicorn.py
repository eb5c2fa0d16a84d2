"""Random RV32IMFC programs leave the same registers, flags and memory as on Unicorn."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from . import rv32_encode as rv
from . import rvc_encode as rvc
from .differential import FINAL, build_batch, compare_batch, random_program
from .execute import run_on_simulator, run_on_unicorn
from .image import L1_BASE, L2_DATA, Image, Region

BATCH = 100
DEFAULT_BATCHES = 5
ALL_BATCHES = 50
COMPRESSED_SINGLES = (
    *("addi4spn", "nop", "addi", "li", "lui", "addi16sp", "srli", "srai", "andi", "j", "jal", "beqz", "bnez"),
    *("slli", "lwsp", "flwsp", "swsp", "fswsp", "jr", "jalr", "mv", "add"),
)


def seeds_of(batch: int) -> range:
    return range(BATCH * batch, BATCH * (batch + 1))


@pytest.mark.parametrize(
    "batch",
    [pytest.param(batch, marks=[pytest.mark.slow] if batch >= DEFAULT_BATCHES else []) for batch in range(ALL_BATCHES)],
)
def test_random_programs_agree_with_unicorn(batch: int) -> None:
    # Both data memories, so that each load and store handler is exercised on each.
    data = L1_BASE if batch % 2 else L2_DATA
    differences = compare_batch(run_on_unicorn, run_on_simulator, seeds_of(batch), data)
    assert not differences, f"{len(differences)} of {BATCH} programs differ\n" + "\n".join(differences[:3])


def test_default_programs_contain_every_mnemonic() -> None:
    programs = [random_program(seed) for batch in range(DEFAULT_BATCHES) for seed in seeds_of(batch)]
    lines = [line for program in programs for item in program.body for line in item]
    seen = {line.text.split()[0] for line in lines}
    integer = {*rv.REGISTER_OPS, *rv.IMMEDIATE_OPS, *rv.SHIFT_OPS, *rv.LOADS, *rv.STORES, *rv.BRANCHES, *rv.CSR_OPS}
    other = {"lui", "auipc", "jal", "jalr", "fence", "fence.i", "flw", "fsw"}
    floating = {*rv.FLOAT_ARITHMETIC, *rv.FLOAT_FIXED, *rv.FLOAT_COMPARES, *rv.FLOAT_UNARY, *rv.FUSED}
    compressed = {*rvc.SHORT_MEMORY, *rvc.SHORT_ARITHMETIC}
    compressed |= {f"c.{name}" for name in COMPRESSED_SINGLES}
    # RV32I without the system instructions, M, F, Zicsr, Zifencei; C for RV32 with F but not D, less c.ebreak
    assert len(integer | other) == 55 and len(floating) == 24 and len(compressed) == 30
    assert integer | other | floating | compressed <= seen
    # each rounding mode with each rounded operation
    rounded = {line.text.split()[0] + line.text[-5:] for line in lines if "rm=" in line.text}
    names = [*rv.FLOAT_ARITHMETIC, *rv.FUSED, "fsqrt.s", "fcvt.w.s", "fcvt.wu.s", "fcvt.s.w", "fcvt.s.wu"]
    assert {f"{name} rm={mode}" for name in names for mode in rv.ROUNDING_MODES.values()} <= rounded


def test_default_programs_take_and_skip_branches_and_raise_every_flag() -> None:
    programs = [random_program(seed) for seed in seeds_of(0)]
    image = build_batch(programs, L1_BASE)
    ranges = [(L1_BASE + 1536 * index + FINAL + 256, 4) for index in range(len(programs))]
    flags = {int.from_bytes(word, "little") & 31 for word in run_on_unicorn(image, ranges)}
    assert all(any(value >> bit & 1 for value in flags) for bit in range(5))
    assert any(not value >> bit & 1 for bit in range(5) for value in flags)


def replace_words(image: Image, change: dict[int, int]) -> Image:
    """Patch the R-type instructions at 4-byte steps whose (opcode, f3, f7) bits match."""
    code = bytearray(image.regions[0].content)
    for offset in range(0, len(code) - 3, 2):
        word = int.from_bytes(code[offset : offset + 4], "little")
        if word & 0xFE00707F in change:
            patched = word & ~0xFE00707F | change[word & 0xFE00707F]
            code[offset : offset + 4] = patched.to_bytes(4, "little")
    return replace(image, regions=(Region(image.regions[0].address, bytes(code)), *image.regions[1:]))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (rv.register_op("mulhsu", 0, 0, 0), rv.register_op("mulhu", 0, 0, 0)),
        (rv.register_op("sra", 0, 0, 0), rv.register_op("srl", 0, 0, 0)),
        (rv.float_fixed("fle.s", 0, 0, 0), rv.float_fixed("flt.s", 0, 0, 0)),
        (rv.float_unary("fmv.x.w", 0, 0, 0), rv.float_unary("fclass.s", 0, 0, 0)),
    ],
    ids=["mulhsu-as-mulhu", "sra-as-srl", "fle-as-flt", "fmv-as-fclass"],
)
def test_planted_instruction_fault_is_found_and_located(right: int, wrong: int) -> None:
    def faulty(image: Image, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        return run_on_unicorn(replace_words(image, {right: wrong}), ranges)

    differences = compare_batch(run_on_unicorn, faulty, seeds_of(0), L1_BASE)
    name = {0x02002033: "mulhsu", 0x40005033: "sra", 0xA0000053: "fle.s", 0xE0000053: "fmv.x.w"}[right]
    assert any("first seen at item" in text and name in text for text in differences)


@pytest.mark.parametrize("place", [0, 511, 512 + 4 * 7, 512 + 128 + 4 * 31, 512 + 256])
def test_one_flipped_result_bit_is_reported(place: int) -> None:
    def flipped(image: Image, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        window, registers = (bytearray(piece) for piece in run_on_unicorn(image, ranges))
        piece, offset = (window, place) if place < len(window) else (registers, place - len(window))
        piece[offset] ^= 1
        return [bytes(window), bytes(registers)]

    (difference,) = compare_batch(run_on_unicorn, flipped, [1], L1_BASE)
    name = {0: "window+0x0", 511: "window+0x1fc", 540: "x7", 764: "f31", 768: "fcsr"}[place]
    assert f"  {name}: expected" in difference
