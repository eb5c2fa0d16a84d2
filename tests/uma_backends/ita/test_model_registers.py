"""Contexts, identifiers, status words, events, and what stops the simulation."""

from collections.abc import Callable

import pytest

from tests.uma_backends.flat_machine import (
    ACQUIRE,
    FINISHED,
    JOB_WORDS,
    L1_BYTES,
    NEVER,
    RUNNING_JOB,
    SOFT_CLEAR,
    STATUS,
    TRIGGER,
    Machine,
)  # fmt: skip
from tests.uma_backends.ita.jobs import WORD_NAMES, Product, register_words
from tvm_pulp.errors import GuestFault, UserError
from uma_backends.ita.reference import ItaRequantization
from uma_backends.ita.registers import Constants, LayerKind, RequantSlot
from uma_backends.ita.timing import QUEUE_GAP, TRIGGER_CYCLES, job_cycles

from .queued import MOST_CONTEXTS, run_queued

ALONE = TRIGGER_CYCLES + job_cycles(is_last=True, has_bias=False, preload=True, nextload=False)


def jobs_of(inner: int) -> list[list[int]]:
    """The jobs of one output tile."""
    constants = Constants((1, inner, 1, 1), {RequantSlot.Q: ItaRequantization(1, 8)})
    product = Product(0, 0x10000, 0x20000, 1, 1, inner)
    return [list(job) for job in register_words(LayerKind.LINEAR, constants, [product])]


def words(inner: int = 1, **changed: int) -> list[int]:
    """The first job of a product; named registers are changed."""
    made = jobs_of(inner)[0]
    for name, value in changed.items():
        made[WORD_NAMES.index(name)] = value
    return made


def test_four_contexts(machine: Machine) -> None:
    """Four jobs wait, the fifth ACQUIRE is refused, each context keeps its own words."""
    assert [machine.submit(words(SEQ_LENGTH=i)) for i in range(4)] == [0, 1, 2, 3]
    assert machine.read(STATUS) == 0x01010101
    assert machine.read(ACQUIRE) == 0xFFFF_FFFF
    assert [machine.read(0x100 * (i + 1) + 0x34) for i in range(3)] == [0, 1, 2]
    machine.advance(ALONE)
    assert machine.read(STATUS) == 0x01010100
    assert machine.read(ACQUIRE) == 4


def test_queued_jobs_follow_after_a_gap(machine: Machine) -> None:
    """Events, finished jobs and the running one."""
    machine.submit(words())
    machine.submit(words())
    machine.advance(5000)
    assert machine.events == [ALONE, 2 * ALONE + QUEUE_GAP - TRIGGER_CYCLES]
    assert machine.read(RUNNING_JOB) == 2
    assert [machine.read(FINISHED), machine.read(FINISHED)] == [2, 0]
    assert machine.next_event() == NEVER


def test_fewer_contexts(make_machine: Callable[..., Machine]) -> None:
    """Older revisions have two; pointers count from the given base."""
    machine = make_machine(contexts=2)
    assert [machine.submit(words()), machine.submit(words())] == [0, 1]
    assert machine.read(ACQUIRE) == 0xFFFF_FFFF
    with pytest.raises(UserError, match="parameter contexts of ita is 5, choose 1 to 4"):
        make_machine(contexts=5)
    with pytest.raises(UserError, match="ita has no parameter lanes"):
        make_machine(lanes=16)


def test_lock_and_commit_only(machine: Machine) -> None:
    """The lock is held from ACQUIRE to TRIGGER; a TRIGGER of 1 queues only."""
    assert machine.read(ACQUIRE) == 0
    assert machine.read(ACQUIRE) == 0xFFFF_FFFE
    for index, word in enumerate(words()):
        machine.write(JOB_WORDS + 4 * index, word)
    machine.write(TRIGGER, 1)
    assert machine.next_event() == NEVER
    assert machine.read(STATUS) == 0
    machine.submit(words())
    machine.advance(5000)
    assert len(machine.events) == 2


def test_an_engine_that_ran_starts_what_is_only_committed(machine: Machine) -> None:
    """Until SOFT_CLEAR, which leaves registers and tickets alone where its value is not 0."""
    machine.run(words())
    machine.submit(words(), trigger=1)
    assert machine.next_event() == machine.cycle + ALONE
    machine.advance(machine.next_event())
    machine.write(SOFT_CLEAR, 1)
    assert machine.submit(words(), trigger=1) == 2
    assert machine.next_event() == NEVER
    machine.submit(words())
    machine.advance(5000)
    assert machine.read(RUNNING_JOB) == len(machine.events) == 4


def test_soft_clear_keeps_the_engine(machine: Machine) -> None:
    """Between jobs of a layer the count survives; in the middle of a job the engine is lost until reset."""
    first, second, last = jobs_of(3)
    for job in (first, second):
        machine.submit(job)
    machine.advance(5000)
    machine.write(SOFT_CLEAR, 0)
    assert machine.read(JOB_WORDS) == 0
    machine.run(last)
    machine.submit(words())
    machine.write(SOFT_CLEAR, 0)
    with pytest.raises(GuestFault, match="lost count when SOFT_CLEAR aborted a job in step MatMul"):
        machine.submit(words())


def test_reset_brings_the_engine_back(machine: Machine) -> None:
    """A hardware reset forgets everything but the memories."""
    machine.submit(words(2))
    machine.reset()
    assert machine.run(words()) == ALONE


FAULTS = {
    "layer changes": ([words(2), words(2, CTRL_ENGINE=0)], "in step MatMul of layer 2"),
    "tiles change": ([words(2), words(2, TILES=0x1131)], "CTRL_ENGINE and TILES must stay"),
    "output too early": ([words(2, CTRL_STREAM=0b00101)], "output_disable must be set on all but the last"),
    "no output": ([words(1, CTRL_STREAM=0b10101)], "output_disable must be set on all but the last"),
    "no weights": ([words(1, CTRL_STREAM=0b00100)], "neither preloads weights"),
    "weights twice": ([words(1, CTRL_STREAM=0b00111), words()], "although the job before it loaded them"),
    "activation in Q": ([words(1, CTRL_ENGINE=0b0100)], "not in step Q"),
    "reserved activation": ([words(1, CTRL_ENGINE=0b1110)], "activation 3 is reserved"),
    "input outside": ([words(1, INPUT_PTR=L1_BYTES - 4092)], "input range 0x0003f004 with 4096 bytes is outside L1"),
    "output outside": ([words(1, OUTPUT_PTR=L1_BYTES)], "output range"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str, machine: Machine) -> None:
    """What the hardware does not do, or goes wrong silently, stops the simulation with one sentence."""
    jobs, reason = FAULTS[name]
    with pytest.raises(GuestFault, match=reason):
        run_queued(machine, jobs)


def begin_late(machine: Machine, job: list[int], cycle: int) -> None:
    """Acquire a context in a cycle and write a word in each of those that follow."""
    machine.advance(cycle)
    assert machine.read(ACQUIRE) <= 0xFF
    for index, word in enumerate(job):
        machine.advance(machine.cycle + 1)
        machine.write(JOB_WORDS + 4 * index, word)
    machine.write(TRIGGER, 0)


def test_a_job_that_is_written_too_late(machine: Machine) -> None:
    """The public RTL hangs where the second job of a sum is begun 280 cycles behind the first one."""
    first, second = jobs_of(2)
    machine.submit(first)
    with pytest.raises(
        GuestFault, match=r"job 0 ended in cycle 284, in step MatMul with inner tile 0 of 2, before TILES"
    ):
        begin_late(machine, second, 280)


def test_a_job_that_is_just_in_time(machine: Machine) -> None:
    first, second = jobs_of(2)
    machine.submit(first)
    begin_late(machine, second, 270)
    machine.advance(5000)
    assert len(machine.events) == 2


@pytest.mark.parametrize("inner", [2, 3, 6])
def test_jobs_that_are_written_before_they_start(inner: int, machine: Machine) -> None:
    """From then on contexts agree, and a core may be held up as long as it likes."""
    jobs = jobs_of(inner)
    before = jobs[:MOST_CONTEXTS]
    for job in before[:-1]:
        machine.submit(job, trigger=1)
        machine.advance(machine.cycle + 3000)
    machine.submit(before[-1])
    for job in jobs[MOST_CONTEXTS:]:
        machine.advance(machine.cycle + 3000)
        machine.submit(job)
    machine.advance(machine.cycle + 3000)
    assert len(machine.events) == inner


def test_what_the_next_context_says_matters_inside_of_sums_only(machine: Machine) -> None:
    """A sum of two tiles is complete where a stale context says so; between output tiles nothing is compared."""
    constants = Constants((2, 2, 1, 1), {RequantSlot.Q: ItaRequantization(1, 8)})
    jobs = list(register_words(LayerKind.LINEAR, constants, [Product(0, 0x10000, 0x20000, 2, 1, 2)]))
    machine.submit(jobs[0])
    machine.submit(jobs[1])
    machine.advance(5000)
    machine.submit(jobs[2])
    with pytest.raises(GuestFault, match="job 2 ended"):
        machine.advance(10000)


def test_ranges_are_claimed(machine: Machine) -> None:
    """Input, weights, next weights, bias and output, as far as the job touches them."""
    machine.submit(words(1, CTRL_STREAM=0b00011, WEIGHT_PTR1=0x18000, BIAS_PTR=0x3000))
    ranges = sorted((c.address, c.bytes, c.is_write) for c in machine.claims)
    assert ranges == [
        (0, 4096, False),
        (0x3000, 192, False),
        (0x10000, 4096, False),
        (0x18000, 1024, False),
        (0x20000, 4096, True),
    ]


def test_unknown_registers(machine: Machine) -> None:
    """Offsets that hold nothing."""
    with pytest.raises(GuestFault, match="no register at offset 0x64 to write"):
        machine.write(0x64, 1)
