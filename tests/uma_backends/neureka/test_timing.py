"""The closed cycle formula against a walk over all subtiles, and its speed."""

import time
from dataclasses import replace

import numpy as np
import pytest

from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob, Padding, Requantization
from uma_backends.neureka.timing import NeurekaTiming, job_cycles

from .random_job import make_random_job


def walk(job: NeurekaJob) -> int:
    """Add the phases of every subtile one after the other (Siracusa geometry, beats of one cycle)."""
    pointwise, depthwise = job.mode is Mode.POINTWISE, job.mode is Mode.DEPTHWISE_3X3
    ko_size, ki_size, halo = 28 if depthwise else 32, 32 if pointwise else 28, job.mode.halo
    how = job.requantization
    cycles = 1
    for ko0 in range(0, job.output_channels, ko_size):
        ko = min(ko_size, job.output_channels - ko0)
        pending = 0
        spatial = [(y, x) for y in range(0, job.output_height, 6) for x in range(0, job.output_width, 6)]
        for y, x in spatial:
            ho, wo = min(6, job.output_height - y), min(6, job.output_width - x)
            hi = ho + halo - (job.padding.bottom if y + 6 >= job.output_height else 0)
            wi = wo + halo - (job.padding.right if x + 6 >= job.output_width else 0)
            steps = range(0, 1 if depthwise else job.input_channels, ki_size)
            for ki0 in steps:
                load = 42 if pointwise else hi * wi
                if not job.prefetch:
                    compute = 34 + job.weight_bits if depthwise else 10 + ko if pointwise else 14 + job.weight_bits * ko
                    cycles += 6 + load + compute
                    continue
                before, body = (3, ko) if pointwise else (6, job.weight_bits * ko + 8)
                cycles += 6 + load + max(0, pending - (3 + load)) + before
                if (y, x) == spatial[-1] and ki0 == steps[-1]:
                    cycles += body + (10 if pointwise else 0)
                pending = before + body
            if job.stream_in:
                cycles += 36 * -(-ko // 8) + 10
            if how:
                last = ko0 + ko == job.output_channels
                scales = ko if last or not depthwise else 32
                cycles += (-(-scales // 4) if how.scale_bits == 8 else scales) + 17
                cycles += 4 * how.bias + 8 * how.shift_vector
            cycles += ((ho - 1) * 6 + wo) * (1 if job.output_bits == 8 else -(-ko // 8)) + 3 * pointwise
    return cycles


@pytest.mark.parametrize("seed", range(300))
def test_closed_formula_equals_the_walk(seed: int) -> None:
    """Every feature in random combination."""
    job = make_random_job(seed).job
    assert job_cycles(job) == walk(job)


def test_beats_scale_their_phase_only() -> None:
    """A weight beat of 1.45 cycles lengthens the weight stream, an activation beat the load."""
    job = NeurekaJob(Mode.DENSE_3X3, 28, 32, 6, 6, Padding(1, 1, 1, 1))
    base = job_cycles(job)
    assert job_cycles(job, NeurekaTiming(beat_w=1450)) - base == round(0.45 * 256) + 1
    assert job_cycles(job, NeurekaTiming(beat_x=1500)) - base == -(-49 * 3 // 2) - 49


def test_weight_bits_matter_in_3x3_only() -> None:
    """1x1 beats carry all planes."""
    for mode, saved in ((Mode.DENSE_3X3, 6 * 32), (Mode.POINTWISE, 0), (Mode.DEPTHWISE_3X3, 6)):
        channels = 28 if mode is Mode.DEPTHWISE_3X3 else 32
        job = NeurekaJob(mode, 28 if mode is Mode.DENSE_3X3 else channels, channels, 6, 6)
        assert job_cycles(job) - job_cycles(replace(job, weight_bits=2, weight_offset=-2)) == saved


def test_raw_output_needs_no_scale() -> None:
    """Raw accumulators skip the scale phase and stream four times as many beats."""
    quantized = NeurekaJob(Mode.POINTWISE, 32, 32, 6, 6, requantization=Requantization(bias=False))
    raw = replace(quantized, output_bits=32, requantization=None)
    assert job_cycles(raw) - job_cycles(quantized) == 3 * 36 - (8 + 17)


def test_fast_enough_for_a_solver() -> None:
    """Ten thousand different tiles in well under a second (a solver asks for a hundred thousand)."""
    random = np.random.default_rng(0)
    sizes = [tuple(int(v) for v in row) for row in random.integers(1, 200, (10_000, 4))]
    start = time.process_time()
    for ki, ko, height, width in sizes:
        job_cycles(NeurekaJob(Mode.DENSE_3X3, ki, ko, height, width, weight_memory=True, prefetch=True))
    assert time.process_time() - start < 1.0
