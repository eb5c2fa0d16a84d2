"""Nested hardware loops, and loops around calls and branches, agree with the Python model.

x5 counts passes of the inner body, x6 of the outer one; results worked out by hand stand next to the model's.
"""

import pytest

from .loop_builder import LoopBuilder, check, counting_body

COUNTS = (0, 1, 2, 3, 7)
LOOPS = (0, 1)


@pytest.mark.parametrize("inner", COUNTS)
@pytest.mark.parametrize("outer", COUNTS)
def test_nested_loops(inner: int, outer: int) -> None:
    builder = LoopBuilder()
    for register, value in ((5, 0), (6, 0), (10, inner), (11, outer)):
        builder.constant(register, value)
    builder.setup(1, 11, "outer_end")
    builder.addi(6, 6, 1)
    builder.setup(0, 10, "inner_end")
    counting_body(builder, 5, 3, "inner_end")
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
    counting_body(builder, 5, 3, "end")
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
    counting_body(builder, 5, 3, "inner_end")
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
    counting_body(builder, 7, 3, "second_end")
    check(builder, 5, 7)


def test_the_same_loop_set_up_twice_at_different_places() -> None:
    builder = LoopBuilder()
    builder.constant(5, 0)
    for repetition, count in enumerate((3, 2, 5, 1, 0, 4)):
        builder.setupi(0, count, f"end{repetition}")
        counting_body(builder, 5, 2, f"end{repetition}")
    check(builder, 5)


def test_finished_loop_does_not_repeat_when_its_code_is_passed_again() -> None:
    # The body is reached a second time by a branch, without lp.setup: its count is used up.
    builder = LoopBuilder()
    for register, value in ((5, 0), (6, 0), (9, 2)):
        builder.constant(register, value)
    builder.setupi(0, 4, "end")
    builder.label("start")
    counting_body(builder, 5, 3, "end")
    builder.addi(6, 6, 1)
    builder.branch("bne", 6, 9, "start")
    check(builder, 5, 6)


@pytest.mark.parametrize("inner", COUNTS)
def test_inner_body_of_one_instruction_right_before_the_outer_end(inner: int) -> None:
    builder = LoopBuilder()
    for register, value in ((5, 0), (6, 0), (10, inner)):
        builder.constant(register, value)
    builder.setupi(1, 3, "outer_end")
    builder.setup(0, 10, "inner_end")
    counting_body(builder, 5, 1, "inner_end")
    builder.label("outer_end")
    builder.addi(6, 6, 1)
    check(builder, 5, 6)
    assert builder.expected() == [3 * max(inner, 1), 3]


def test_left_loop_is_still_armed_when_its_end_is_passed_again() -> None:
    # Three of four passes are left when the branch leaves the body; coming back uses them.
    builder = LoopBuilder()
    for register, value in ((5, 0), (6, 0), (9, 1)):
        builder.constant(register, value)
    builder.setupi(0, 4, "end")
    builder.addi(5, 5, 1)
    builder.branch("bne", 6, 9, "out")
    builder.addi(5, 5, 16)
    builder.label("end")
    builder.addi(5, 5, 256)
    builder.call("done", link=0)
    builder.label("out")
    builder.addi(6, 6, 1)
    builder.call("end", link=0)
    builder.label("done")
    check(builder, 5, 6)
    assert builder.expected() == [4 + 3 * 16 + 4 * 256, 1]
