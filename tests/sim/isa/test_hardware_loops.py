"""Hardware loops (section 5.2) run their bodies as often, and leave them as, the Python model does.

Bodies count their iterations in registers, so a wrong number of passes, a wrong start or a wrong end all show.
x5 counts passes of the inner body, x6 of the outer one, x7 instructions after a loop.
"""

import struct
from collections.abc import Callable

import pytest

from . import rvc_encode as rvc
from .encode import u12_type
from .image import L1_BASE
from .loop_builder import LOOP_FORMS, LoopBuilder
from .xpulp_memory import MEMORY_FORMS
from .xpulp_table import FORM_BY_NAME

COUNTS = (0, 1, 2, 3, 7)
LOOPS = (0, 1)


def check(builder: LoopBuilder, *registers: int) -> None:
    for register in registers:
        builder.record(register, f"x{register}")
    differences = list(builder.differences())
    assert not differences, "\n".join(differences)


def body(builder: LoopBuilder, register: int, instructions: int, end: str) -> None:
    """Add different powers of two, so that every instruction of the body is counted separately."""
    for index in range(instructions):
        if index == instructions - 1:
            builder.label(end)
        builder.addi(register, register, 1 << index)


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
    body(builder, 5, size, "end")
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
    body(builder, 5, 4, "end")
    check(builder, 5, 7)


@pytest.mark.parametrize("loop", LOOPS)
def test_largest_immediates(loop: int) -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.counti(loop, 4095)
    builder.starti(loop, "start")
    builder.endi(loop, "end")
    builder.label("start")
    body(builder, 5, 2, "end")
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


@pytest.mark.parametrize("inner", COUNTS)
@pytest.mark.parametrize("outer", COUNTS)
def test_nested_loops(inner: int, outer: int) -> None:
    builder = LoopBuilder()
    for register, value in ((5, 0), (6, 0), (10, inner), (11, outer)):
        builder.constant(register, value)
    builder.setup(1, 11, "outer_end")
    builder.addi(6, 6, 1)
    builder.setup(0, 10, "inner_end")
    body(builder, 5, 3, "inner_end")
    builder.addi(6, 6, 16)
    builder.label("outer_end")
    builder.addi(6, 6, 256)
    check(builder, 5, 6)
    assert builder.expected() == [7 * max(inner, 1) * max(outer, 1), 273 * max(outer, 1)]


@pytest.mark.parametrize("inner", [1, 2, 3])
@pytest.mark.parametrize("outer", [1, 2, 3])
def test_nested_loops_with_a_shared_last_instruction(inner: int, outer: int) -> None:
    # Loop 0 is looked at first; when it falls through, loop 1 is looked at for the same instruction.
    builder = LoopBuilder()
    for register, value in ((5, 0), (6, 0), (10, inner), (11, outer)):
        builder.constant(register, value)
    builder.setup(1, 11, "end")
    builder.addi(6, 6, 1)
    builder.setup(0, 10, "end")
    body(builder, 5, 3, "end")
    check(builder, 5, 6)
    assert builder.expected() == [7 * inner * outer, outer]


@pytest.mark.parametrize("loop", LOOPS)
def test_loop_around_a_call(loop: int) -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.setupi(loop, 5, "end")
    builder.call("function")
    builder.label("end")
    builder.addi(5, 5, 1)
    builder.call("done", link=0)
    builder.label("function")
    builder.addi(5, 5, 256)
    builder.ret()
    builder.label("done")
    check(builder, 5)


def test_outer_loop_around_a_function_with_its_own_inner_loop() -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.constant(6, 0)
    builder.setupi(1, 4, "outer_end")
    builder.call("function")
    builder.addi(6, 6, 1)
    builder.label("outer_end")
    builder.addi(6, 6, 16)
    builder.call("done", link=0)
    builder.label("function")
    builder.setupi(0, 3, "inner_end")
    body(builder, 5, 3, "inner_end")
    builder.ret()
    builder.label("done")
    check(builder, 5, 6)


@pytest.mark.parametrize("jump", ["beq", "bne"])
def test_branch_inside_the_body_onto_the_last_instruction(jump: str) -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.constant(6, 0)
    builder.setupi(0, 6, "end")
    builder.branch(jump, 6, 0, "end")
    builder.addi(5, 5, 1)
    builder.addi(5, 5, 16)
    builder.label("end")
    builder.addi(6, 6, 1)
    check(builder, 5, 6)


def test_count_is_unsigned_and_a_loop_may_be_left_by_a_branch() -> None:
    builder = LoopBuilder()
    for register, value in ((5, 0), (9, 6), (10, 0x80000000)):
        builder.constant(register, value)
    builder.setup(0, 10, "end")
    builder.addi(5, 5, 1)
    builder.branch("beq", 5, 9, "out")
    builder.label("end")
    builder.addi(5, 5, 0)
    builder.addi(5, 5, 1000)
    builder.label("out")
    # The loop that was left is still armed; setting it up again must forget that.
    builder.setupi(0, 2, "second_end")
    body(builder, 7, 3, "second_end")
    check(builder, 5, 7)


def test_the_same_loop_set_up_twice_at_different_places() -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    for repetition, count in enumerate((3, 2, 5, 1, 0, 4)):
        builder.setupi(0, count, f"end{repetition}")
        body(builder, 5, 2, f"end{repetition}")
    check(builder, 5)


def test_finished_loop_does_not_repeat_when_its_code_is_passed_again() -> None:
    # The body is reached a second time by a branch, without lp.setup: its count is used up.
    builder = LoopBuilder()
    for register, value in ((5, 0), (6, 0), (9, 2)):
        builder.constant(register, value)
    builder.setupi(0, 4, "end")
    builder.label("start")
    body(builder, 5, 3, "end")
    builder.addi(6, 6, 1)
    builder.branch("bne", 6, 9, "start")
    check(builder, 5, 6)


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


def load_last(builder: LoopBuilder) -> None:
    (form,) = (form for form in MEMORY_FORMS if form.name == "p.lw imm(rs1!)")
    builder.add(5, 5, 12)
    builder.label("end")
    builder.memory(form, 12, 11, 4)


def store_last(builder: LoopBuilder) -> None:
    (form,) = (form for form in MEMORY_FORMS if form.name == "p.sw imm(rs1!)")
    builder.addi(5, 5, 3)
    builder.label("end")
    builder.memory(form, 5, 11, 4)


def dot_product_last(builder: LoopBuilder) -> None:
    (form,) = (form for form in MEMORY_FORMS if form.name == "p.lw imm(rs1!)")
    builder.memory(form, 12, 11, 4)
    builder.label("end")
    builder.form(FORM_BY_NAME["pv.sdotsp.b"], 5, 12, 12, ())


@pytest.mark.parametrize("last", [load_last, store_last, dot_product_last])
def test_kinds_of_last_instruction(last: Callable[[LoopBuilder], None]) -> None:
    builder = LoopBuilder()
    builder.data(L1_BASE + 0x400, struct.pack("<8I", *(0x01020304 * (index + 1) for index in range(8))))
    for register, value in ((5, 0), (11, L1_BASE + 0x400), (12, 0)):
        builder.constant(register, value)
    builder.setupi(0, 8, "end")
    last(builder)
    builder.record(5, "x5")
    builder.record(11, "x11")
    builder.record(12, "x12")
    differences = list(builder.differences(windows=((L1_BASE + 0x400, 32),)))
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("core", range(8))
def test_every_cluster_core_has_loops(core: int) -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    builder.setupi(1, 3, "outer_end")
    builder.setupi(0, 4, "inner_end")
    body(builder, 5, 3, "inner_end")
    builder.addi(5, 5, 256)
    builder.label("outer_end")
    builder.addi(5, 5, 0)
    builder.record(5, "x5")
    differences = list(builder.differences(core=core))
    assert not differences, "\n".join(differences)
