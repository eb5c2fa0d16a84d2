"""Two job contexts, the lock, identifiers, status words and the event line."""

import numpy as np
import pytest

from tests.uma_backends.flat_machine import (
    ACQUIRE,
    FINISHED,
    JOB_WORDS,
    L1_BASE,
    NEVER,
    RUNNING_JOB,
    SOFT_CLEAR,
    STATUS,
    TRIGGER,
    Machine,
)  # fmt: skip
from tvm_pulp.errors import GuestFault
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob
from uma_backends.neureka.packing import pack_weights
from uma_backends.neureka.registers import Addresses, register_image
from uma_backends.neureka.timing import job_cycles

ALL_BUSY, LOCKED = 0xFFFF_FFFF, 0xFFFF_FFFE
JOB = NeurekaJob(Mode.POINTWISE, 32, 32, 6, 6, output_bits=32, requantization=None)
CYCLES = job_cycles(JOB)
INPUT, WEIGHTS = L1_BASE, L1_BASE + 0x4000


def words_of(output: int = L1_BASE + 0x8000) -> tuple[int, ...]:
    return register_image(JOB, Addresses(INPUT, output, WEIGHTS))


def fill(machine: Machine) -> np.ndarray:
    """Put ones everywhere, so that every output is 32, and return the expected tensor."""
    machine.write_l1(INPUT, np.ones((6, 6, 32), np.uint8))
    machine.write_l1(WEIGHTS, pack_weights(np.ones((32, 32, 1, 1), np.int8), Mode.POINTWISE))
    return np.full((6, 6, 32), 32, np.int32)


def test_identifiers_count_and_wrap(machine: Machine) -> None:
    """ACQUIRE returns 0, 1, 2, ... modulo 256."""
    fill(machine)
    ids = []
    for _ in range(258):
        ids.append(machine.submit(words_of()))
        machine.advance(machine.next_event())
    assert ids == [*range(256), 0, 1]
    assert machine.read(RUNNING_JOB) == 258 % 256


def test_lock_is_held_from_acquire_to_trigger(machine: Machine) -> None:
    """While one core programs a context, every ACQUIRE (its own included) is refused with -2."""
    assert machine.read(ACQUIRE, core=3) == 0
    assert machine.read(ACQUIRE, core=3) == LOCKED
    assert machine.read(ACQUIRE, core=5) == LOCKED
    fill(machine)
    for index, word in enumerate(words_of()):
        machine.write(JOB_WORDS + 4 * index, word, core=3)
    machine.write(TRIGGER, 0, core=3)
    assert machine.read(ACQUIRE, core=5) == 1


def test_third_job_finds_both_contexts_busy(machine: Machine) -> None:
    """ACQUIRE answers -1 with two unfinished jobs and works again after the first one ends."""
    fill(machine)
    assert [machine.submit(words_of()), machine.submit(words_of())] == [0, 1]
    assert machine.read(STATUS) == 0x101
    assert machine.read(ACQUIRE) == ALL_BUSY
    machine.advance(CYCLES)
    assert machine.read(STATUS) == 0x100
    assert machine.read(ACQUIRE) == 2


def test_queued_job_follows_without_a_gap(machine: Machine) -> None:
    """The idle cycle between two jobs is the first cycle of the second one's formula."""
    fill(machine)
    machine.advance(1000)
    machine.submit(words_of())
    machine.advance(1010)
    machine.submit(words_of(L1_BASE + 0x1_0000))
    assert machine.next_event() == 1000 + CYCLES
    machine.advance(5000)
    assert machine.events == [1000 + CYCLES, 1000 + 2 * CYCLES]
    assert machine.next_event() == NEVER


def test_effects_land_at_the_end(machine: Machine) -> None:
    """One cycle before its end a job has written nothing."""
    expected = fill(machine)
    machine.submit(words_of())
    machine.advance(CYCLES - 1)
    assert not machine.read_l1(L1_BASE + 0x8000, expected.shape, np.int32).any()
    assert machine.read(STATUS) == 0x001
    machine.advance(CYCLES)
    np.testing.assert_array_equal(machine.read_l1(L1_BASE + 0x8000, expected.shape, np.int32), expected)
    assert machine.read(STATUS) == 0


def test_status_is_busy_from_trigger_on(machine: Machine) -> None:
    """An acquired but not yet triggered context is not busy (the hardware's rule)."""
    machine.read(ACQUIRE)
    assert machine.read(STATUS) == 0


def test_commit_only_waits_for_a_trigger(machine: Machine) -> None:
    """A TRIGGER of 1 queues; the next TRIGGER of 0 starts both in order."""
    fill(machine)
    machine.submit(words_of(), trigger=1)
    assert machine.next_event() == NEVER
    machine.advance(500)
    assert machine.events == []
    machine.submit(words_of(L1_BASE + 0x1_0000))
    machine.advance(5000)
    assert machine.events == [500 + CYCLES, 500 + 2 * CYCLES]


def test_commit_only_runs_while_the_engine_is_busy(machine: Machine) -> None:
    """A job committed behind a running one needs no trigger of its own; behind an idle engine it does."""
    fill(machine)
    machine.submit(words_of())
    machine.submit(words_of(), trigger=1)
    machine.advance(5000)
    assert len(machine.events) == 2
    machine.submit(words_of(), trigger=1)
    assert machine.next_event() == NEVER


def test_finished_saturates_and_clears(machine: Machine) -> None:
    """FINISHED counts to two and reading empties it; RUNNING_JOB counts on."""
    fill(machine)
    for _ in range(3):
        machine.run(words_of())
    assert machine.read(RUNNING_JOB) == 3
    assert [machine.read(FINISHED), machine.read(FINISHED)] == [2, 0]


def test_contexts_keep_their_words(machine: Machine) -> None:
    """Words persist per context, so a third job finds those of the first."""
    fill(machine)
    machine.run(words_of())
    assert machine.read(JOB_WORDS + 8) == 0
    machine.run(words_of(L1_BASE + 0x1_0000))
    assert machine.read(JOB_WORDS + 8) == L1_BASE + 0x8000
    assert machine.run(()) == CYCLES


def test_soft_clear_aborts(machine: Machine) -> None:
    """A write of 0 drops running and queued jobs, their effects and events, the lock, ids and words."""
    fill(machine)
    machine.submit(words_of())
    machine.submit(words_of())
    machine.advance(10)
    machine.write(SOFT_CLEAR, 0)
    machine.advance(5000)
    assert machine.events == []
    assert not machine.read_l1(L1_BASE + 0x8000, (6, 6, 32), np.int32).any()
    assert [machine.read(STATUS), machine.read(FINISHED), machine.read(RUNNING_JOB)] == [0, 0, 0]
    assert machine.read(JOB_WORDS) == 0
    assert machine.submit(words_of()) == 0
    assert machine.statistics["busy_cycles"] == 10


def test_soft_clear_of_another_value_keeps_the_register_file(machine: Machine) -> None:
    """Any write frees the queue; only 0 clears words and identifiers."""
    fill(machine)
    machine.run(words_of())
    machine.read(ACQUIRE)
    machine.write(SOFT_CLEAR, 1)
    assert machine.next_event() == NEVER
    assert machine.read(JOB_WORDS + 8) == L1_BASE + 0x8000
    assert machine.read(ACQUIRE) == 2


def test_reset_restores_everything(machine: Machine) -> None:
    """After reset the engine is as new, statistics included."""
    fill(machine)
    machine.submit(words_of())
    machine.reset()
    assert machine.next_event() == NEVER
    assert set(machine.statistics.values()) == {0}
    assert machine.submit(words_of()) == 0


def test_trigger_of_a_third_job_is_a_fault(machine: Machine) -> None:
    """Without a free context there is nothing to commit."""
    fill(machine)
    machine.submit(words_of())
    machine.submit(words_of())
    with pytest.raises(GuestFault, match="both of its job contexts are busy"):
        machine.write(TRIGGER, 0)


def test_writing_words_of_a_running_context_is_a_fault(machine: Machine) -> None:
    """With both contexts busy a job register write would reach the running job."""
    fill(machine)
    machine.submit(words_of())
    machine.submit(words_of())
    with pytest.raises(GuestFault, match="would change the running job"):
        machine.write(JOB_WORDS, 0)


def test_claims_are_exact(machine: Machine) -> None:
    """A job declares its operands until its end, merged, nothing more."""
    fill(machine)
    machine.submit(words_of())
    claims = {(claim.address, claim.bytes, claim.is_write, claim.port) for claim in machine.claims}
    assert claims == {
        (INPUT, 6 * 6 * 32, False, 0),
        (L1_BASE + 0x8000, 6 * 6 * 32 * 4, True, 0),
        (WEIGHTS, 32 * 32, False, 0),
    }
    assert {claim.end_cycle for claim in machine.claims} == {CYCLES}


def test_claims_of_a_channel_slice_leave_the_other_channels_alone(machine: Machine) -> None:
    """One range per pixel where the operand is a slice."""
    job = NeurekaJob(Mode.POINTWISE, 8, 4, 2, 3, output_bits=32, requantization=None, input_pixel_stride=32)
    machine.submit(register_image(job, Addresses(INPUT + 8, L1_BASE + 0x8000, WEIGHTS)))
    reads = [claim for claim in machine.claims if not claim.is_write and claim.address < WEIGHTS]
    assert [(claim.address, claim.bytes) for claim in reads] == [(INPUT + 8 + 32 * pixel, 8) for pixel in range(6)]


def test_statistics(machine: Machine) -> None:
    """Jobs, busy cycles, useful MACs and bytes moved by the engine."""
    fill(machine)
    machine.run(words_of())
    assert machine.statistics == {
        "jobs": 1,
        "busy_cycles": CYCLES,
        "macs": 36 * 32 * 32,
        "l1_bytes": 36 * 32 + 36 * 32 * 4 + 32 * 32,
        "weight_bytes": 0,
    }
