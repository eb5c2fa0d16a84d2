"""Jumps and branches reach targets at every bit of their offset, forward and backward.

Random programs jump only a little way; here each program is one jump between empty memory, so that any other target
is an illegal instruction.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from . import rv32_encode as rv
from . import rvc_encode as rvc
from .encode import b_type
from .execute import run_on_simulator
from .image import L1_BASE, Image, Region, exit_stub

JUMP = 0x1C100000
ENTRY = 0x1C010000
LANDING = 0x1C082000
MARK = 123


@dataclass(frozen=True)
class Jump:
    """A jump by its offset; x8 is zero and x9 is not when it executes."""

    encode: Callable[[int], int]
    size: int
    offset_bits: int
    links: bool = False


JUMPS: dict[str, Jump] = {
    "jal": Jump(lambda offset: rv.jal(1, offset), 4, 20, links=True),
    "beq": Jump(lambda offset: rv.branch("beq", 8, 0, offset), 4, 13),
    "bne": Jump(lambda offset: rv.branch("bne", 9, 0, offset), 4, 13),
    "blt": Jump(lambda offset: rv.branch("blt", 8, 9, offset), 4, 13),
    "bge": Jump(lambda offset: rv.branch("bge", 9, 8, offset), 4, 13),
    "bltu": Jump(lambda offset: rv.branch("bltu", 8, 9, offset), 4, 13),
    "bgeu": Jump(lambda offset: rv.branch("bgeu", 9, 8, offset), 4, 13),
    "p.beqimm": Jump(lambda offset: b_type(0x63, 2, 9, 5, offset), 4, 13),
    "p.bneimm": Jump(lambda offset: b_type(0x63, 3, 8, 5, offset), 4, 13),
    "c.j": Jump(lambda offset: rvc.jump("c.j", offset), 2, 12),
    "c.jal": Jump(lambda offset: rvc.jump("c.jal", offset), 2, 12, links=True),
    "c.beqz": Jump(lambda offset: rvc.branch("c.beqz", 8, offset), 2, 9),
    "c.bnez": Jump(lambda offset: rvc.branch("c.bnez", 9, offset), 2, 9),
}


def offsets(bits: int, seed: str) -> list[int]:
    """Each single bit, both ends of the range, and a few others; none inside the jump itself."""
    pick = random.Random(seed)
    chosen = [sign << bit for bit in range(2, bits - 1) for sign in (1, -1)]
    chosen += [-(1 << (bits - 1)), (1 << (bits - 1)) - 2]
    chosen += [2 * pick.randrange(2, 1 << (bits - 2)) * pick.choice((1, -1)) for _ in range(6)]
    return chosen


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "little") for value in values)


def land(jump: bytes, target: int) -> tuple[int, int]:
    """Execute the jump and return the mark and the link register that the landing place stored."""
    entry = words(
        *rv.load_constant(1, 0),
        rv.immediate_op("addi", 8, 0, 0),
        rv.immediate_op("addi", 9, 0, 5),
        *rv.load_constant(10, JUMP),
        rv.jalr(0, 10, 0),
    )
    # Reached with any offset, so it must be short: the rest is at a fixed place.
    target_stub = words(rv.jal(0, LANDING - target))
    landing = words(
        *rv.load_constant(11, L1_BASE),
        rv.immediate_op("addi", 12, 0, MARK),
        rv.store("sw", 12, 11, 0),
        rv.store("sw", 1, 11, 4),
    )
    regions = (
        Region(ENTRY, entry),
        Region(JUMP, jump),
        Region(target, target_stub),
        Region(LANDING, landing + exit_stub()),
    )
    (content,) = run_on_simulator(Image(ENTRY, LANDING, regions), [(L1_BASE, 8)])
    return int.from_bytes(content[:4], "little"), int.from_bytes(content[4:], "little")


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", JUMPS)
def test_jump_lands_at_every_distance(name: str) -> None:
    jump = JUMPS[name]
    for offset in offsets(jump.offset_bits, name):
        image = jump.encode(offset).to_bytes(jump.size, "little")
        link = JUMP + jump.size if jump.links else 0
        assert land(image, JUMP + offset) == (MARK, link), f"{name} {offset:+d}"


@pytest.mark.parametrize("immediate", [0, 1, 2, 4, 512, 1024, 2047, -1, -2, -2048, -1023])
def test_jalr_adds_its_immediate_and_clears_bit_zero(immediate: int) -> None:
    target = JUMP + 0x1000
    lead = words(*rv.load_constant(13, target - immediate + (immediate & 1)))
    image = lead + words(rv.jalr(1, 13, immediate))
    # With an odd immediate the sum is odd and one too large.
    assert land(image, target) == (MARK, JUMP + 12)
