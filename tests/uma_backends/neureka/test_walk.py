"""Jobs that go access by access, for an L1 whose banks others want too."""

from collections.abc import Callable
from dataclasses import asdict

import pytest

from tests.uma_backends.flat_machine import L1_BASE, NEVER, Machine
from uma_backends.neureka.geometry import Geometry, Mode
from uma_backends.neureka.job import NeurekaJob, Requantization
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE, Addresses, register_image
from uma_backends.neureka.timing import CURRENT, REVISIONS, RTL, NeurekaTiming, job_cycles

from .random_job import make_random_job


@pytest.mark.sample(4)
@pytest.mark.parametrize("block", range(10))
def test_nobody_contends(block: int, make_machine: Callable[..., Machine]) -> None:
    """Access by access a job takes what the closed formulas of model and planner say, in every mode and revision."""
    machines = {r: [make_machine(delays, timing_revision=r) for delays in ((0,), ())] for r in REVISIONS}
    for seed in range(30 * block, 30 * block + 30):
        case = make_random_job(seed)
        for revision, both in machines.items():
            for machine in both:
                case.load_into(machine)
                assert machine.run(case.words) == job_cycles(case.job, NeurekaTiming(timing_revision=revision)), (
                    case.job
                )


@pytest.mark.parametrize("revision", (CURRENT, RTL))
def test_other_arrays(revision: int, make_machine: Callable[..., Machine]) -> None:
    """The same for other geometries and slower beats."""
    geometry = Geometry(2, 7, channels_1x1=16, channels_3x3=14, output_channels=16, weight_beat_bytes=16)
    knobs = {"beat_w": 1450, "beat_x": 1300, "timing_revision": revision}
    machine = make_machine(delays=(0,), **asdict(geometry), **knobs)
    timing = NeurekaTiming.of({**asdict(geometry), **knobs})
    for seed in range(40):
        case = make_random_job(seed, geometry)
        case.load_into(machine)
        assert machine.run(case.words) == job_cycles(case.job, timing), case.job


def pointwise() -> tuple[NeurekaJob, list[int]]:
    job = NeurekaJob(Mode.POINTWISE, 64, 32, 6, 6, requantization=Requantization())
    places = Addresses(*(L1_BASE + 0x4000 * n for n in range(5)))
    return job, list(register_image(job, places))


def test_every_access_can_be_late(make_machine: Callable[..., Machine]) -> None:
    """Loads of pixels, weights, scales and biases and stores: one late access in three is one cycle each."""
    job, words = pointwise()
    calm, late = make_machine(delays=(0,)), make_machine(delays=(0, 0, 1))
    assert calm.run(words) == job_cycles(job)
    # Two steps of 36 pixels and 32 weight beats, 8 words of scales, 4 of biases, 36 pixels out.
    assert calm.accesses == 2 * (36 + 32) + 8 + 4 + 36
    assert late.run(words) == job_cycles(job) + calm.accesses // 3


def test_prefetch_hides_late_loads_behind_the_weights(make_machine: Callable[..., Machine]) -> None:
    """A 3x3 step computes for 270 cycles and loads for 64: a load may take four times as long for nothing."""
    job = NeurekaJob(
        Mode.DENSE_3X3, 56, 32, 6, 6, weight_memory=True, prefetch=True, requantization=None, output_bits=32
    )
    words = list(register_image(job, Addresses(L1_BASE, L1_BASE + 0x8000, WEIGHT_MEMORY_BASE)))
    calm, late = make_machine(delays=(0,)), make_machine(delays=(2,))
    calm_cycles, late_cycles = calm.run(words), late.run(words)
    assert calm.accesses == 2 * 64 + 4 * 36
    # The first load has nothing to hide behind; neither have the results.
    assert late_cycles - calm_cycles == 2 * 64 + 2 * 4 * 36


def test_ranges_stay_declared_until_the_end(make_machine: Callable[..., Machine]) -> None:
    """The end of the job is not known when it starts."""
    _, words = pointwise()
    machine = make_machine(delays=(0,))
    machine.submit(words)
    assert machine.claims and all(claim.end_cycle == NEVER for claim in machine.claims)
    while not machine.events:
        machine.advance(machine.next_event())
    assert all(claim.end_cycle == 0 for claim in machine.claims)
