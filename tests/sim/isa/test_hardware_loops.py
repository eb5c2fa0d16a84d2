"""Hardware loops (section 5.2) run their bodies as often, and leave them as, the Python model does.

Bodies count their iterations in registers, so a wrong number of passes, a wrong start or a wrong end all show.
x5 counts passes of the inner body, x6 of the outer one, x7 instructions after a loop.
"""

import struct
from collections.abc import Callable

import pytest

from . import rv32_encode as rv
from . import rvc_encode as rvc
from .encode import u12_type
from .image import L1_BASE
from .loop_builder import LOOP_FORMS, LoopBuilder, check, counting_body
from .xpulp_memory import MEMORY_FORMS
from .xpulp_table import FORM_BY_NAME

COUNTS = (0, 1, 2, 3, 7)
LOOPS = (0, 1)


def test_every_loop_instruction_has_its_published_word() -> None:
    assert len(LOOP_FORMS) == 6
    # lp.setup 0, x0, 0 as printed with the intrinsics; lp.setupi carries its count in the upper twelve bits
    assert u12_type(0x7B, LOOP_FORMS["lp.setup"], 0, 0, 0) == 0x0000407B
    assert u12_type(0x7B, LOOP_FORMS["lp.setupi"], 1, 6, 10) == 10 << 20 | 6 << 15 | 5 << 12 | 1 << 7 | 0x7B


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("form", ["lp.setup", "lp.setupi"])
def test_body_runs_count_times(form: str, loop: int, count: int, size: int) -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.constant(10, count)
    if form == "lp.setup":
        builder.setup(loop, 10, "end")
    else:
        builder.setupi(loop, count, "end")
    counting_body(builder, 5, size, "end")
    builder.addi(7, 5, 1)
    check(builder, 5, 7)
    # The same result by hand: a count of zero still passes the body once.
    assert builder.expected()[0] == max(count, 1) * ((1 << size) - 1)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("form", ["lp.count", "lp.counti"])
def test_separate_start_end_and_count(form: str, loop: int, count: int) -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.constant(7, 0)
    builder.constant(10, count)
    builder.starti(loop, "start")
    builder.endi(loop, "end")
    if form == "lp.count":
        builder.count(loop, 10)
    else:
        builder.counti(loop, count)
    # Not part of the body: the start lies behind it.
    builder.addi(7, 7, 1)
    builder.label("start")
    counting_body(builder, 5, 4, "end")
    check(builder, 5, 7)


@pytest.mark.parametrize("loop", LOOPS)
def test_largest_immediates(loop: int) -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.counti(loop, 4095)
    builder.starti(loop, "start")
    builder.endi(loop, "end")
    builder.label("start")
    counting_body(builder, 5, 2, "end")
    builder.setupi(loop, 4095, "far")
    # uimmS reaches 31 half-words: the last instruction at 60 bytes, 14 before it
    for _ in range(14):
        builder.addi(6, 6, 1)
    builder.label("far")
    builder.addi(6, 6, 3)
    check(builder, 5, 6)


def test_setup_reaches_the_longest_body() -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.constant(10, 3)
    builder.setup(0, 10, "end")
    for _ in range(2046):
        builder.addi(5, 5, 1)
    builder.label("end")
    builder.addi(5, 5, 1)
    check(builder, 5)


@pytest.mark.parametrize("loop", LOOPS)
def test_loop_registers_are_readable_and_the_count_falls(loop: int) -> None:
    builder = LoopBuilder()
    builder.constant(12, 0)
    builder.constant(10, 5)
    builder.setup(loop, 10, "end")
    builder.read_loop_csr(13, loop, "count")
    # 12 gathers the counts as decimal digits.
    builder.add(14, 12, 12)
    builder.add(15, 14, 14)
    builder.add(15, 15, 15)
    builder.add(12, 14, 15)
    builder.read_loop_csr(16, loop, "start")
    builder.read_loop_csr(17, loop, "end")
    builder.label("end")
    builder.add(12, 12, 13)
    check(builder, 12, 16, 17)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_compressed_body_with_a_half_word_aligned_end(count: int) -> None:
    builder = LoopBuilder()
    builder.constant(9, 0)
    builder.setupi(0, count, "end")
    builder.fixed("c.addi x9, 1", rvc.addi(9, 1), lambda state: state.set(9, state.x[9] + 1), 2)
    builder.label("end")
    builder.addi(9, 9, 256)
    builder.fixed("c.nop", rvc.nop(), lambda state: None, 2)
    check(builder, 9)


MEMORY_BY_NAME = {form.name: form for form in MEMORY_FORMS}
TABLE = L1_BASE + 0x400


def load_last(builder: LoopBuilder) -> None:
    builder.add(5, 5, 12)
    builder.label("end")
    builder.memory(MEMORY_BY_NAME["p.lw imm(rs1!)"], 12, 11, 4)


def misaligned_load_last(builder: LoopBuilder) -> None:
    builder.add(5, 5, 12)
    builder.label("end")
    builder.memory(MEMORY_BY_NAME["p.lw imm(rs1!)"], 12, 11, 3)


def store_last(builder: LoopBuilder) -> None:
    builder.addi(5, 5, 3)
    builder.label("end")
    builder.memory(MEMORY_BY_NAME["p.sw imm(rs1!)"], 5, 11, 4)


def dot_product_last(builder: LoopBuilder) -> None:
    builder.memory(MEMORY_BY_NAME["p.lw imm(rs1!)"], 12, 11, 4)
    builder.label("end")
    builder.form(FORM_BY_NAME["pv.sdotsp.b"], 5, 12, 12, ())


def address_last(builder: LoopBuilder) -> None:
    builder.add(5, 5, 12)
    builder.label("end")
    builder.fixed("auipc x12, 1", rv.auipc(12, 1), lambda state: state.set(12, state.pc + 0x1000))


def multiplication_last(builder: LoopBuilder) -> None:
    builder.addi(12, 12, 1)
    builder.label("end")
    builder.form(FORM_BY_NAME["p.mac"], 5, 12, 12, ())


def compressed_last(builder: LoopBuilder) -> None:
    builder.addi(5, 5, 1)
    builder.label("end")
    builder.fixed("c.addi x12, 3", rvc.addi(12, 3), lambda state: state.set(12, state.x[12] + 3), 2)
    builder.fixed("c.nop", rvc.nop(), lambda state: None, 2)


def csr_read_last(builder: LoopBuilder) -> None:
    builder.add(5, 5, 12)
    builder.label("end")
    builder.read_loop_csr(12, 0, "start")


LAST_INSTRUCTIONS = [
    *(load_last, misaligned_load_last, store_last, dot_product_last),
    *(address_last, multiplication_last, compressed_last, csr_read_last),
]


@pytest.mark.parametrize("last", LAST_INSTRUCTIONS)
@pytest.mark.parametrize("table", [TABLE, 0x1C180000], ids=["L1", "L2"])
def test_kinds_of_last_instruction(last: Callable[[LoopBuilder], None], table: int) -> None:
    builder = LoopBuilder()
    builder.data(table, struct.pack("<8I", *(0x01020304 * (index + 1) for index in range(8))))
    for register, value in ((5, 0), (11, table), (12, 0)):
        builder.constant(register, value)
    builder.setupi(0, 7, "end")
    last(builder)
    for register in (5, 11, 12):
        builder.record(register, f"x{register}")
    differences = list(builder.differences(windows=((table, 32),)))
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("position", ["first", "last but one"])
def test_fence_i_in_the_body_does_not_lose_the_loop(position: str) -> None:
    # Instructions decoded before must be forgotten, the loop must not.
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.setupi(0, 5, "end")
    if position == "first":
        builder.fixed("fence.i", rv.FENCE_I, lambda state: None)
    builder.addi(5, 5, 1)
    if position != "first":
        builder.fixed("fence.i", rv.FENCE_I, lambda state: None)
    builder.label("end")
    builder.addi(5, 5, 16)
    check(builder, 5)


@pytest.mark.parametrize("core", range(8))
def test_every_cluster_core_has_loops(core: int) -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.setupi(1, 3, "outer_end")
    builder.setupi(0, 4, "inner_end")
    counting_body(builder, 5, 3, "inner_end")
    builder.addi(5, 5, 256)
    builder.label("outer_end")
    builder.addi(5, 5, 0)
    builder.record(5, "x5")
    differences = list(builder.differences(core=core))
    assert not differences, "\n".join(differences)
