"""`synchronise`: exactly the waits and barriers that shared bytes demand."""

from dataclasses import replace

import pytest

from tests.planning.tir.small_plans import numbers, two_tiles
from tvm_pulp import soc
from tvm_pulp.errors import UserError
from tvm_pulp.planning.check.verify_plan import verify_plan
from tvm_pulp.planning.program.actions import TransferAction
from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.planning.tir.lower import lower
from tvm_pulp.planning.tir.synchronise import share_tickets


def synchronised(*, overlap: bool, cores: int = 8) -> list[str]:
    return numbers(lower(two_tiles(overlap=overlap, cores=cores).plan).main)


def test_pipelined_tiles() -> None:
    """Loads are core 0's, stores core 1's; one barrier per tile, behind the wait for its data."""
    mains = dict(lower(two_tiles(overlap=True).plan).mains)
    assert numbers(mains["place"]) == [
        "dma_load_bundle(-1, 0, 0, 0, 172)",
        "dma_load(-1, 1, 64)",
        "layer(2, 0)",
        "dma_load(2, 2, 64)",
        "call(2, 0)",
        "dma_store(5, 3, 64)",
        "call(5, 1)",
        "dma_store(6, 4, 64)",
        "layer(7, 1)",
    ]
    assert numbers(mains["synchronise"]) == [
        "step(-1)",
        "dma_begin(0, 0)",
        "dma_load_bundle(0, -1, 0, 0, 0, 172)",
        "dma_load(0, -1, 1, 64)",
        "dma_wait(0, 0)",
        "barrier()",
        "step(2)",
        "layer(2, 0)",
        "dma_begin(0, 0)",
        "dma_load(0, 2, 2, 64)",
        "call(2, 0)",
        "dma_wait(0, 0)",  # tile 1 is there
        "barrier()",  # tile 0 is computed
        "step(5)",
        "dma_begin(1, 0)",
        "dma_store(1, 5, 3, 64)",
        "call(5, 1)",
        "barrier()",
        "step(6)",
        "dma_begin(0, 0)",
        "dma_store(0, 6, 4, 64)",
        "dma_wait(1, 0)",
        "dma_wait(0, 0)",
        "barrier()",
        "step(7)",
        "layer(7, 1)",
        "end()",
    ]


def test_one_buffer_means_waiting_for_the_store_before_the_next_load() -> None:
    lines = synchronised(overlap=False)
    first_store = next(i for i, s in enumerate(lines) if s.startswith("dma_store"))
    second_load = next(i for i, s in enumerate(lines) if s.startswith("dma_load") and i > first_store)
    second_call = lines.index("call(5, 1)")
    assert "barrier()" in lines[lines.index("call(2, 0)") : first_store]
    assert any(s.startswith("dma_wait") for s in lines[second_load:second_call])


def test_few_cores_have_one_agent() -> None:
    lines = synchronised(overlap=True, cores=2)
    assert all(s.startswith("dma_begin(0,") for s in lines if s.startswith("dma_begin"))


def test_the_verifier_agrees_for_chains_of_layers() -> None:
    for overlap in (True, False):
        for layers in (1, 2, 5):
            plan = two_tiles(overlap=overlap, layers=layers).plan
            assert verify_plan(describe(lower(plan)), soc.load("siracusa")) == []


def test_every_engine_has_tickets_for_its_queue() -> None:
    assert share_tickets({"a": 2, "b": 1}) == {"a": range(2), "b": range(2, 3)}
    assert share_tickets({}) == {}


def test_long_queues_leave_tickets_to_others() -> None:
    """Eight tickets: the longest queue gives way, so that every engine has one."""
    shared = share_tickets({"a": 20, "b": 2, "c": 1})
    assert [len(tickets) for tickets in shared.values()] == [5, 2, 1]
    assert sorted(number for tickets in shared.values() for number in tickets) == list(range(8))
    with pytest.raises(UserError, match="uses 9 accelerators and the executor keeps 8: name fewer in --target"):
        share_tickets(dict.fromkeys("abcdefghi", 1))


def test_what_is_needed_first_is_loaded_first() -> None:
    """Loads of a step that two cores would issue are one core's, the most urgent first, if the DMA takes them all."""
    tables = two_tiles(overlap=True, layers=3)
    moves = tables.plan.schedule.moves
    later = max((m for m in moves if not m.outward), key=lambda m: m.layer)
    beside = next(m for m in moves if not m.outward and m.layer == 1)
    urgent = replace(beside, position=2, needed=5, ahead=True)
    running = replace(later, position=2, needed=17, ahead=True)
    changed = [urgent if m is beside else running if m is later else m for m in moves]
    schedule = replace(tables.plan.schedule, moves=tuple(changed))
    for room, agents in ((10, 1), (1, 2)):
        plan = replace(tables.plan, schedule=schedule, commands_in_flight=room)
        step = next(s for s in lower(plan).program if s.position == 2)
        loads = [
            (a.agent, a.layer) for a in step.actions if isinstance(a, TransferAction) and a.do == "load" and a.ahead
        ]
        assert sorted(layer for _, layer in loads) == [1, 2]
        assert len({agent for agent, _ in loads}) == agents
        if agents == 1:
            assert [layer for _, layer in loads] == [1, 2]
