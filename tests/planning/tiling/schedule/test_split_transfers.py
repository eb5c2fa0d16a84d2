"""Transfers cut to what one DMA command can carry: the same bytes to the same places, in few commands."""

from dataclasses import replace

import numpy as np
import pytest

from tests.planning.tir.small_plans import plan_of, two_tiles
from tvm_pulp.planning.tiling.forms.cuts import MissingL1
from tvm_pulp.planning.tiling.schedule.build_program import build_program
from tvm_pulp.planning.tiling.schedule.program import Program
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits, split_transfers
from tvm_pulp.planning.tir.lower import lower
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Transfer

# The length field of a command has 17 bits, and bursts are 256 bytes long.
MOST = (1 << 17) - 256
LIMITS = CommandLimits(MOST)


def moved(transfers: tuple[Transfer, ...]) -> np.ndarray:
    """For every byte of L1 the byte outside that it holds, or takes."""
    size = max(t.local + t.bytes for t in transfers)
    found = np.full(size, -1, np.int64)
    for t in transfers:
        assert t.bytes % t.line == 0
        for line in range(t.bytes // t.line):
            place = slice(t.local + line * t.line, t.local + (line + 1) * t.line)
            assert (found[place] == -1).all(), "no byte is moved twice"
            found[place] = t.external + line * t.stride + np.arange(t.line)
    return found


def run(size: int) -> Transfer:
    return Transfer(48, 16, size, size, size)


@pytest.mark.parametrize(
    ("transfer", "commands"),
    [
        (run(100), 1),
        (run(MOST), 1),
        (run(MOST + 1), 2),
        (run(2 * MOST), 2),
        (run(2 * MOST + 1), 3),
        (Transfer(8, 0, 40 * 3000, 3000, 5000), 1),
        (Transfer(8, 0, 44 * 3000, 3000, 5000), 2),  # 43 lines fit
        (Transfer(8, 64, 87 * 3000, 3000, 5000), 3),
        (Transfer(8, 64, 3 * MOST, MOST, MOST + 50), 3),
        (Transfer(8, 64, 2 * (MOST + 10), MOST + 10, MOST + 50), 4),  # lines that are too long themselves
    ],
)
def test_commands_move_the_same_bytes(transfer: Transfer, commands: int) -> None:
    parts = split_transfers([transfer], LIMITS)
    assert len(parts) == commands
    assert all(0 < part.bytes <= MOST for part in parts)
    np.testing.assert_array_equal(moved(parts)[transfer.local :], moved((transfer,))[transfer.local :])


def test_several_transfers_keep_their_order() -> None:
    middle = Transfer(0, 116, MOST + 4, MOST + 4, MOST + 4)
    parts = split_transfers([run(100), middle, Transfer(7, 300000, 8, 8, 8)], LIMITS)
    assert [part.bytes for part in parts] == [100, MOST, 4, 8]


def test_programs_have_no_larger_transfer() -> None:
    """A tensor of 150,000 bytes as one tile: two loads and two stores."""
    spec = TensorSpec((1, 150_000), "int8")
    layer = Layer("l", "transpose", {"axes": [0, 1]}, [Tensor("x", spec, "input")], [Tensor("y", spec, "output")], None)
    plan = plan_of([layer], (1, 150_000), overlap=False)
    sizes = [[t.bytes for t in move.transfers] for move in plan.schedule.moves if isinstance(move.source, Tensor)]
    assert sizes == [[MOST, 150_000 - MOST]] * 2
    assert lower(plan).function is not None


def test_a_schedule_of_more_commands_than_memory_holds_needs_a_larger_l1() -> None:
    plan = two_tiles(overlap=False).plan
    commands = sum(len(m.transfers) for m in plan.schedule.moves if isinstance(m.source, Tensor))

    def schedule(most: int) -> Program:
        policy = replace(plan.policy, commands=CommandLimits(MOST, most=most))
        return build_program(plan.network, plan.layers, policy, plan.l1_bytes)

    assert len(schedule(commands).slots) == 2
    with pytest.raises(MissingL1, match="layer 'layer0'"):
        schedule(commands - 1)
