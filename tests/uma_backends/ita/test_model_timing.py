"""Cycles of jobs: alone, behind each other, and beside others that take banks of L1."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.uma_backends.flat_machine import Machine
from tests.uma_backends.ita.jobs import BIAS_BY_COLUMN, NO_BIAS, Head, Product, attention_products, register_words
from uma_backends.ita.reference import ItaRequantization
from uma_backends.ita.registers import Constants, LayerKind, RequantSlot
from uma_backends.ita.timing import TRIGGER_CYCLES, head_cycles, job_cycles, product_cycles

from .queued import busy_cycles, run_queued

Words = list[tuple[int, ...]]
RULES = {slot: ItaRequantization(1, 10) for slot in RequantSlot}


def product_words(rows: int, columns: int, inner: int, bias: bool = True) -> Words:
    product = Product(0, 0x10000, 0x20000, rows, columns, inner, 0x30000, BIAS_BY_COLUMN if bias else NO_BIAS)
    return list(register_words(LayerKind.LINEAR, Constants((rows, inner, columns, 1), RULES), [product]))


def head_words(s: int, e: int, p: int) -> Words:
    head = Head(0, 0, (0, 0, 0, 0), (0x3F000,) * 4, (0x10000, 0x18000, 0x20000, 0x28000, 0x30000, 0x20000))
    constants = Constants((s, e, p, 1), RULES)
    return list(register_words(LayerKind.ATTENTION, constants, attention_products(head, s, e, p)))


def feedforward_words(s: int, e: int, f: int) -> Words:
    first = Product(0, 0x10000, 0x20000, s, f, e, 0x30000, BIAS_BY_COLUMN)
    second = Product(0x20000, 0x10000, 0, s, e, f, 0x30000, BIAS_BY_COLUMN)
    return list(register_words(LayerKind.FEEDFORWARD, Constants((s, e, 1, f), RULES), [first, second]))


# Cycles of a job on the public RTL, by what it does: writes, has a bias, preloads, loads for the next one.
RTL_JOBS = {
    (True, True, False, True): 306,
    (True, False, False, True): 305,
    (False, True, False, True): 271,
    (False, False, False, True): 264,
    (True, True, True, True): 306 + 9,
    (True, False, True, True): 305 + 8,
    (False, True, True, True): 271 + 13,
    (False, False, True, True): 264 + 18,
    (True, True, False, False): 306 - 9,
    (True, False, False, False): 305 - 9,
    (True, True, True, False): 306 + 9 - 9,
    (True, False, True, False): 305 + 8 - 9,
}


@pytest.mark.parametrize(("writes", "bias", "preload", "nextload"), RTL_JOBS)
def test_every_kind_of_job(writes: bool, bias: bool, preload: bool, nextload: bool, machine: Machine) -> None:
    """Simulated on the hardware's sources with a memory that always grants: model and closed form to the cycle."""
    expected = RTL_JOBS[writes, bias, preload, nextload]
    assert job_cycles(is_last=writes, has_bias=bias, preload=preload, nextload=nextload) == expected
    jobs = product_words(2 - preload + nextload, 1, 1, bias) if writes else product_words(1, 1, 3, bias)
    assert busy_cycles(machine, jobs)[0 if preload else 1] == expected


# Cycles of whole lists on the public RTL, from the first trigger to the last event.
RTL_LISTS = {
    "head 64 64 64": (head_words(1, 1, 1), 1841),
    "head 64 128 64": (head_words(1, 2, 1), 2968),
    "head 128 64 64": (head_words(2, 1, 1), 4823),
    "head 128 128 64": (head_words(2, 2, 1), 7073),
    "product 64 64 64": (product_words(1, 1, 1), 308),
    "product 128 64 192 without bias": (product_words(2, 3, 1, bias=False), 1836),
    "product 64 512 64": (product_words(1, 1, 8), 2216),
    "product 192 64 64": (product_words(3, 1, 1), 922),
    "feed-forward 64 64 128": (feedforward_words(1, 1, 2), 1194),
    "feed-forward 128 128 64": (feedforward_words(2, 2, 1), 2391),
}


@pytest.mark.parametrize("name", RTL_LISTS)
def test_whole_lists(name: str, machine: Machine) -> None:
    jobs, cycles = RTL_LISTS[name]
    assert run_queued(machine, jobs) == cycles


@pytest.mark.parametrize(("s", "e", "p"), [(1, 1, 1), (2, 2, 1), (4, 6, 1)])
def test_head_in_the_queue(s: int, e: int, p: int, machine: Machine) -> None:
    """The closed form of a head is what the model takes."""
    jobs = head_words(s, e, p)
    assert len(jobs) == 4 * s * e * p + 2 * s * s * p
    assert run_queued(machine, jobs) == TRIGGER_CYCLES + head_cycles(s, e, p)


@pytest.mark.parametrize("bias", [True, False])
def test_product_in_the_queue(bias: bool, machine: Machine) -> None:
    """The closed form of a product is what the model takes."""
    assert run_queued(machine, product_words(2, 3, 4, bias)) == TRIGGER_CYCLES + product_cycles(2, 3, 4, has_bias=bias)


def denied(probability: float) -> list[int]:
    """Cycles that accesses wait where each is denied with a probability in each cycle."""
    return list(np.random.default_rng(33).geometric(1 - probability, 200_000) - 1)


@pytest.mark.parametrize(("probability", "writing"), [(0.1, 335), (0.2, 380), (0.3, 429)])
def test_denied_grants(probability: float, writing: int, make_machine: Callable[..., Machine]) -> None:
    """What the public RTL takes where grants are denied at random; there, jobs that only read do not notice at all."""
    steady = busy_cycles(make_machine(denied(probability)), product_words(8, 2, 1))[1:-1]
    assert abs(np.mean(steady) - writing) <= 0.02 * writing
    reading = busy_cycles(make_machine(denied(probability)), product_words(1, 1, 15))[1:-1]
    assert np.mean(reading) <= (1.01 if probability < 0.3 else 1.04) * 271


def test_transfers_beside_a_job(make_machine: Callable[..., Machine]) -> None:
    """Two tiles that the DMA moves meanwhile: half of their 128 beats meet a beat of the engine.

    That costs a job that writes one cycle each (measured on the hardware: 368 to 372 cycles), a job that does not
    nearly nothing once its first rows are there.
    """
    preload_write, preload_inner = 298 + 2, 170 + 2  # beats of a first job with bias
    conflicts = [1, 0] * 64
    machine = make_machine([0] * preload_write + conflicts + [0] * 1000)
    assert 364 <= busy_cycles(machine, product_words(2, 2, 1))[1] <= 374
    machine = make_machine([0] * (preload_inner + 40) + conflicts[:64] + [0] * 1000)
    assert busy_cycles(machine, product_words(1, 1, 4))[1] <= 1.01 * 271


def test_contention_changes_no_free_job(make_machine: Callable[..., Machine]) -> None:
    """Access by access without delays a job takes as long as at once."""
    jobs = product_words(2, 1, 2)
    assert busy_cycles(make_machine([0]), jobs) == busy_cycles(make_machine(), jobs)
