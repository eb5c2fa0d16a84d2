"""Places of blocks in L1: apart while both are needed, and while a job is expected to use one where there is room."""

import pytest

from tvm_pulp.planning.tiling.place.place_blocks import place_blocks
from tvm_pulp.planning.tiling.schedule.program import Block


def apart(one: Block, other: Block) -> bool:
    return one.offset + one.bytes <= other.offset or other.offset + other.bytes <= one.offset


def row(*, running: bool) -> list[Block]:
    """Blocks that follow each other; the first one's job runs on until the last begins."""
    blocks = [Block(f"b{n}", 64, 3 * n + 2, 3 * n + 2, n) for n in range(4)]
    if running:
        blocks[0].expect_use(11)
    return blocks


def test_blocks_that_follow_each_other_share_bytes() -> None:
    blocks = row(running=False)
    assert place_blocks(blocks, 64) == 64
    assert {b.offset for b in blocks} == {0}


def test_operands_of_a_running_job_are_left_alone() -> None:
    blocks = row(running=True)
    assert place_blocks(blocks, 128) == 128
    assert all(apart(blocks[0], other) for other in blocks[1:])


def test_without_room_they_give_way() -> None:
    blocks = row(running=True)
    assert place_blocks(blocks, 64) == 64
    assert {b.offset for b in blocks} == {0}


def test_whoever_has_room_keeps_away() -> None:
    """One block is too large to find a place beside the job's operands, the others have one."""
    blocks = row(running=True)
    blocks[1].bytes = 100
    assert place_blocks(blocks, 128) <= 128
    assert not apart(blocks[0], blocks[1])
    assert apart(blocks[0], blocks[2]) and apart(blocks[0], blocks[3])


@pytest.mark.parametrize("budget", [256, 192, 160])
def test_blocks_alive_together_never_meet(budget: int) -> None:
    blocks = [Block(f"b{n}", 32 + 16 * (n % 3), 3 * n + 2, 3 * n + 5 + n % 2, n) for n in range(12)]
    for number, block in enumerate(blocks):
        block.expect_use(block.last + 3 * (number % 4))
    place_blocks(blocks, budget)
    for one in blocks:
        for other in blocks:
            if one is not other and one.first <= other.last and other.first <= one.last:
                assert apart(one, other)
