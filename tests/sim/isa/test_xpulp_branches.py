"""p.beqimm and p.bneimm (section 5.3) compare with every five-bit constant and reach forward and backward."""

import random

import pytest

from .builder import BRANCH_FORMS, Builder


@pytest.mark.parametrize("name", BRANCH_FORMS)
def test_immediate_branch_agrees_with_the_model(name: str) -> None:
    pick = random.Random(name)
    builder = Builder()
    for constant in range(-16, 16):
        values = (constant, constant + 1, constant & 31, constant ^ 0x80000000, pick.getrandbits(32))
        for index, value in enumerate(values):
            register = pick.randrange(0, 30)
            builder.constant(30, 0)
            builder.constant(register, value)
            builder.branch_immediate(name, register, constant, f"skip {constant} {index}")
            builder.addi(30, 30, 1)
            builder.label(f"skip {constant} {index}")
            builder.record(30, f"{name} x{register} = {value & 0xFFFFFFFF:#x}, {constant}: 1 if not taken")
    differences = list(builder.differences())
    assert not differences, "\n".join(differences[:8])


def test_immediate_branch_closes_a_loop() -> None:
    builder = Builder()
    builder.constant(5, -20)
    builder.constant(6, 0)
    builder.label("again")
    builder.addi(6, 6, 1)
    builder.addi(5, 5, 1)
    builder.branch_immediate("p.bneimm", 5, -7, "again")
    builder.branch_immediate("p.beqimm", 6, 13, "out")
    builder.constant(6, 99)
    builder.label("out")
    builder.record(5, "x5")
    builder.record(6, "x6")
    differences = list(builder.differences())
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("distance", [1022, 1023])
def test_immediate_branch_reaches_its_farthest_target(distance: int) -> None:
    # 13-bit offsets: up to 4094 bytes forward and 4096 backward
    builder = Builder()
    builder.constant(5, 3)
    builder.constant(6, 0)
    builder.branch_immediate("p.beqimm", 5, 3, "forward")
    builder.label("back")
    builder.addi(6, 6, 1)
    for _ in range(distance - 2):
        builder.addi(6, 6, 1)
    builder.label("forward")
    builder.addi(5, 5, 1)
    builder.branch_immediate("p.beqimm", 5, 4, "back")
    builder.record(5, "x5")
    builder.record(6, "x6")
    differences = list(builder.differences())
    assert not differences, "\n".join(differences)
