"""The C driver against the model: register words, both contexts, waiting."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends.flat_machine import JOB_WORDS, L1_BASE, SOFT_CLEAR, STATUS, TRIGGER, Machine
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob
from uma_backends.neureka.registers import Addresses, register_image
from uma_backends.neureka.timing import job_cycles

from .golden_vector import GoldenVector
from .hooked_driver import ChangedJob, DriverJob, HookedDriver

JOB = NeurekaJob(Mode.POINTWISE, 32, 32, 6, 6, output_bits=32, requantization=None)
WORDS = register_image(JOB, Addresses(L1_BASE, L1_BASE + 0x8000, L1_BASE + 0x4000))


@pytest.fixture
def driver(machine: Machine, tmp_path: Path) -> HookedDriver:
    """An initialised driver."""
    driver = HookedDriver(machine, tmp_path)
    driver.init()
    return driver


def test_init_and_term(machine: Machine, tmp_path: Path) -> None:
    """Init gives the accelerator priority and clears the engine; term gives L1 back to the cores."""
    driver = HookedDriver(machine, tmp_path)
    driver.library.neureka_init()
    assert driver.writes == [(SOFT_CLEAR, 0)]
    assert driver.priority == (1, 8)
    assert driver.event_unmasked
    # At least ten cycles pass after the clear.
    assert machine.cycle >= 3 + 10
    driver.submit(DriverJob.of(WORDS))
    driver.library.neureka_term()
    assert driver.priority == (0, 0)
    assert machine.read(STATUS) == 0


@pytest.mark.parametrize("source", ["l1", "wmem"])
def test_golden_layer(vector: GoldenVector, source: str, driver: HookedDriver) -> None:
    """The driver writes the words of the reference driver, and the engine computes the expected tensor."""
    job, at, image = vector.variant(source)
    vector.load_into(driver.machine, at, job.weight_memory)
    driver.submit(DriverJob.of(image))
    written = dict(driver.writes)
    assert [written[JOB_WORDS + 4 * index] for index in range(24)] == image
    assert driver.writes[-1] == (TRIGGER, 0)
    assert len(driver.writes) == 25
    driver.library.neureka_wait_all()
    assert driver.sleeps == 1
    np.testing.assert_array_equal(vector.output_from(driver.machine, at), vector.arrays["output"])


def test_a_known_shape_costs_six_words(driver: HookedDriver) -> None:
    """Each context learns a shape once; after that only pointers are written."""
    first = DriverJob.of(WORDS)
    for _ in range(2):
        driver.submit(first)
    driver.writes.clear()
    driver.submit(DriverJob.of([w + 64 for w in WORDS[:6]], first.shape.contents))
    assert len(driver.writes) == 7
    assert driver.writes[:6] == [(JOB_WORDS + 4 * index, word + 64) for index, word in enumerate(WORDS[:6])]
    driver.writes.clear()
    driver.submit(DriverJob.of(WORDS))
    assert len(driver.writes) == 25


def test_submit_once_remembers_nothing(driver: HookedDriver) -> None:
    """A shape that will be overwritten is never taken as known."""
    job = DriverJob.of(WORDS)
    for _ in range(4):
        driver.writes.clear()
        driver.library.neureka_submit_once(job)
        assert len(driver.writes) == 25
    driver.writes.clear()
    driver.submit(job)
    assert len(driver.writes) == 25


def test_words_that_change(driver: HookedDriver) -> None:
    """Two jobs with all words, then pointers and changes: what each context holds is what the job wants."""
    once, changed = driver.library.neureka_submit_once, driver.library.neureka_submit_changed
    for _ in range(2):
        once(DriverJob.of(WORDS))
    driver.writes.clear()
    narrower = [(4, WORDS[6 + 4] // 2), (16, 0)]
    assert changed(ChangedJob.of([w + 64 for w in WORDS[:6]], narrower)) == 2
    pointers = [(JOB_WORDS + 4 * index, word + 64) for index, word in enumerate(WORDS[:6])]
    assert driver.writes == [*pointers, *((JOB_WORDS + 24 + 4 * n, v) for n, v in narrower), (0, 0)]
    driver.writes.clear()
    assert changed(ChangedJob.of(WORDS[:6], [])) == 3
    assert len(driver.writes) == 7
    driver.library.neureka_wait_all()
    assert len(driver.machine.events) == 4


def test_both_contexts_stay_busy(driver: HookedDriver) -> None:
    """The third submit sleeps until the first job ends; the engine never idles in between."""
    job = DriverJob.of(WORDS)
    tickets = [driver.submit(job) for _ in range(5)]
    assert tickets == [0, 1, 2, 3, 4]
    assert driver.sleeps == 3
    driver.library.neureka_wait_all()
    events = driver.machine.events
    assert len(events) == 5
    assert {later - earlier for earlier, later in itertools.pairwise(events)} == {job_cycles(JOB)}


def test_waiting_for_one_job(driver: HookedDriver) -> None:
    """A ticket is done when its context is free or works for a later job, across the wrap of hardware ids."""
    job = DriverJob.of(WORDS)
    for round_number in range(200):
        first, second = driver.submit(job), driver.submit(job)
        assert not driver.is_done(first)
        assert not driver.is_done(second)
        driver.library.neureka_wait(first)
        assert driver.is_done(first)
        assert not driver.is_done(second)
        third = driver.submit(job)
        assert driver.is_done(first)
        assert not driver.is_done(second)
        driver.library.neureka_wait(third)
        assert driver.is_done(second)
        assert third == 3 * round_number + 2
