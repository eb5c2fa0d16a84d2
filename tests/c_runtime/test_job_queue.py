"""The front end of job-queue engines is data: contexts, words, width of tickets and gap are those of the rules."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends.flat_machine import (
    ACQUIRE,
    JOB_WORDS,
    L1_BASE,
    RUNNING_JOB,
    SOFT_CLEAR,
    STATUS,
    TRIGGER,
    Machine,
    ModelLibrary,
)  # fmt: skip
from tvm_pulp.errors import GuestFault, UserError

CYCLES, GAP = 10, 2


@pytest.fixture(scope="module")
def make() -> Callable[..., Machine]:
    library = ModelLibrary.of([Path(__file__).with_name("small_engine.c")])
    return lambda **parameters: Machine(library, parameters)


def total(machine: Machine) -> int:
    return int(machine.read_l1(L1_BASE, (1,), np.uint32)[0])


@pytest.mark.parametrize("contexts", [1, 2, 3, 4])
def test_as_many_jobs_wait_as_there_are_contexts(make: Callable[..., Machine], contexts: int) -> None:
    """The next ACQUIRE is refused, STATUS has a byte for each, and jobs follow each other after the gap."""
    machine = make(contexts=contexts)
    assert [machine.submit([L1_BASE, 1 << i]) for i in range(contexts)] == list(range(contexts))
    assert machine.read(STATUS) == int.from_bytes(bytes([1] * contexts), "little")
    assert machine.read(ACQUIRE) == 0xFFFF_FFFF
    machine.advance(1000)
    assert machine.events == [CYCLES + i * (CYCLES + GAP) for i in range(contexts)]
    assert total(machine) == (1 << contexts) - 1
    assert machine.statistics["jobs"] == contexts
    assert machine.statistics["busy_cycles"] == contexts * CYCLES


def test_tickets_count_modulo_their_width(make: Callable[..., Machine]) -> None:
    """Four bits of this engine, for tickets and for finished jobs."""
    machine = make()
    tickets = []
    for _ in range(18):
        tickets.append(machine.submit([L1_BASE, 1]))
        machine.advance(machine.next_event())
    assert tickets == [*range(16), 0, 1]
    assert machine.read(RUNNING_JOB) == 2
    assert total(machine) == 18


def test_soft_clear_drops_the_job(make: Callable[..., Machine]) -> None:
    """Its effects, its event and its words are gone; the cycles that it ran are counted."""
    machine = make(cycles=100)
    machine.submit([L1_BASE, 1])
    machine.advance(40)
    machine.write(SOFT_CLEAR, 0)
    machine.advance(1000)
    assert (total(machine), machine.events, machine.read(JOB_WORDS)) == (0, [], 0)
    assert machine.statistics["busy_cycles"] == 40
    assert machine.submit([L1_BASE, 1]) == 0


def test_faults_name_the_engine(make: Callable[..., Machine]) -> None:
    """Registers behind its last word, a range outside L1, a trigger too many, a parameter that it has not."""
    with pytest.raises(GuestFault, match="small has no register at offset 0x28 to write"):
        make().write(JOB_WORDS + 8, 0)
    with pytest.raises(GuestFault, match="small sum range 0x20000000 with 4 bytes is outside L1"):
        make().submit([2 * L1_BASE, 1])
    machine = make()
    machine.submit([L1_BASE, 1])
    with pytest.raises(GuestFault, match="small was triggered while all of its job contexts are busy"):
        machine.write(TRIGGER, 0)
    with pytest.raises(UserError, match="parameter contexts of small is 5, choose 1 to 4"):
        make(contexts=5)
    with pytest.raises(UserError, match="small has no parameter lanes"):
        make(lanes=1)
