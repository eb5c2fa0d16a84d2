"""Cycles of jobs: alone, behind each other, and beside others that take banks of L1."""

from collections.abc import Callable, Sequence

import pytest

from tests.uma_backends.flat_machine import Machine
from uma_backends.ita.jobs import BIAS_BY_COLUMN, NO_BIAS, Head, Product, attention_products, register_words
from uma_backends.ita.reference import Requantization
from uma_backends.ita.registers import Constants, LayerKind, Slot
from uma_backends.ita.timing import QUEUE_GAP, head_cycles, job_cycles, product_cycles

PRELOAD_WRITE, PRELOAD_INNER = 298 + 2, 170 + 2  # beats of a first job with bias


def product_words(rows: int, columns: int, inner: int, bias: bool = True) -> list[tuple[int, ...]]:
    product = Product(0, 0x10000, 0x20000, rows, columns, inner, 0x30000, BIAS_BY_COLUMN if bias else NO_BIAS)
    constants = Constants((rows, inner, columns, 1), {Slot.Q: Requantization(1, 8)})
    return list(register_words(LayerKind.LINEAR, constants, [product]))


def queue_all(machine: Machine, jobs: Sequence[Sequence[int]]) -> int:
    """Keep the queue filled and return the cycle of the last event."""
    waiting = list(jobs)
    while len(machine.events) < len(jobs):
        while waiting and machine.read(0x0C).bit_count() < 4:
            machine.submit(waiting.pop(0))
        machine.advance(machine.next_event())
    return machine.events[-1]


@pytest.mark.parametrize("bias", [True, False])
def test_steady_jobs(bias: bool, machine: Machine) -> None:
    """What the description of the hardware gives for a memory without contention."""
    cycles = [machine.run(words) for words in product_words(2, 2, 3, bias)]
    first, *steady = cycles
    assert steady[1::3] == [306 if bias else 305] * 3 + [298 if bias else 297]
    assert steady[0] == (271 if bias else 266)
    assert 0 < first - steady[2] <= 16
    expected = [
        job_cycles(is_last=k == 2, has_bias=bias, preload=t == 0, nextload=t < 11)
        for t, k in enumerate(list(range(3)) * 4)
    ]
    assert cycles == expected


@pytest.mark.parametrize(("s", "e", "p", "published"), [(1, 1, 1, 1853), (2, 2, 1, 7126), (4, 6, 1, 36944)])
def test_head_in_the_queue(s: int, e: int, p: int, published: int, machine: Machine) -> None:
    """A head whose jobs wait in the queue takes what the beat model of the hardware's description says, to 2 %."""
    head = Head(0, 0, (0, 0, 0, 0), (0x3F000,) * 4, (0x10000, 0x18000, 0x20000, 0x28000, 0x30000, 0x20000))
    rules = {slot: Requantization(1, 10) for slot in Slot}
    jobs = list(register_words(LayerKind.ATTENTION, Constants((s, e, p, 1), rules), attention_products(head, s, e, p)))
    assert len(jobs) == 4 * s * e * p + 2 * s * s * p
    cycles = queue_all(machine, jobs)
    assert abs(cycles - published) <= 0.02 * published
    assert cycles == head_cycles(s, e, p)


def test_product_in_the_queue(machine: Machine) -> None:
    """The closed form of a product is what the model takes."""
    assert queue_all(machine, product_words(2, 3, 4)) == product_cycles(2, 3, 4, has_bias=True)
    assert QUEUE_GAP == 3


def test_transfers_beside_a_job(make_machine: Callable[..., Machine]) -> None:
    """Two tiles that the DMA moves meanwhile: half of their 128 beats meet a beat of the engine.

    That costs a job that writes one cycle each (measured on the hardware: 368 to 372 cycles), a job that does not
    nearly nothing once its first rows are there.
    """
    conflicts = [1, 0] * 64
    machine = make_machine([0] * PRELOAD_WRITE + conflicts + [0] * 1000)
    jobs = product_words(2, 2, 1)
    machine.run(jobs[0])
    assert 364 <= machine.run(jobs[1]) <= 374
    machine = make_machine([0] * (PRELOAD_INNER + 40) + conflicts[:64] + [0] * 1000)
    jobs = product_words(1, 1, 4)
    machine.run(jobs[0])
    assert machine.run(jobs[1]) <= 1.01 * 271


def test_contention_changes_no_result_and_no_free_job(make_machine: Callable[..., Machine]) -> None:
    """Access by access without delays a job takes as long as at once."""
    jobs = product_words(2, 1, 2)
    assert [make_machine([0]).run(jobs[0])] == [make_machine().run(jobs[0])]
