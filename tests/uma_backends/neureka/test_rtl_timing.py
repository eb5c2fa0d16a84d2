"""Timing revision `rtl`: what simulations of the public hardware sources took, and the accesses behind it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.uma_backends.flat_machine import L1_BASE, Machine
from tvm_pulp.errors import GuestFault, UserError
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob, Padding, Requantization
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE, Addresses, register_image
from uma_backends.neureka.timing import CURRENT, RTL, NeurekaTiming, job_cycles

from .golden_vector import GoldenVector
from .random_job import make_random_job

AS_RTL = NeurekaTiming(timing_revision=RTL)
# Golden layers at 6x6 and 28 channels: phases of the hardware sources.
GOLDEN = {
    "d3_u8u8_w8_pad1": 409,
    "d3_u8u8_w4_pad1": 909,
    "dw_u8u8_w8_28": 186,
    "dw_u8i8_w4_30": 1171,
    "pw_u8u8_w8_32x32": 157,
    "pw_gemm_m24k100n48": 739,
    "d3_u8u8_stride2_rgb": 2382,
}
# The same for layers of which only name, bits and both cycle counts are known; shapes with just these counts were
# looked for: RTL cycles, cycles of the public simulator, job.
ONES = Padding(1, 1, 1, 1)
RECONSTRUCTED = {
    "d3_u8i8_w2_pad1": (
        689,
        542,
        NeurekaJob(Mode.DENSE_3X3, 57, 8, 8, 6, ONES, weight_bits=2, requantization=Requantization(relu=False)),
    ),
    "dw_u8u8_pad0_56": (687, 595, NeurekaJob(Mode.DEPTHWISE_3X3, 56, 56, 8, 6)),
    "pw_u8u8_scale32_nobias": (
        465,
        513,
        NeurekaJob(Mode.POINTWISE, 32, 33, 7, 2, requantization=Requantization(scale_bits=32, bias=False)),
    ),
}
PLACES = Addresses(*(L1_BASE + 0x4000 + 0x8000 * n for n in range(5)))


def phases(job: NeurekaJob) -> int:
    """The measured phases of every subtile, one after the other, without prefetch (Siracusa's array)."""
    pointwise, depthwise, how = job.mode is Mode.POINTWISE, job.mode is Mode.DEPTHWISE_3X3, job.requantization
    ko_size, ki_size = 28 if depthwise else 32, 32 if pointwise else 28
    cycles = 4 - 1
    for ko0 in range(0, job.output_channels, ko_size):
        ko = min(ko_size, job.output_channels - ko0)
        beats = ko if pointwise else job.weight_bits * (1 if depthwise else ko)
        for y in range(0, job.output_height, 6):
            for x in range(0, job.output_width, 6):
                for _ in range(0, 1 if depthwise else job.input_channels, ki_size):
                    cycles += (36 if pointwise else 64) + 5
                    cycles += ko + 5 if depthwise else 6
                    cycles += beats + (5 if depthwise else 6) - (beats <= 4)
                    cycles += 2
                if how is not None:
                    cycles += -(-ko // 4) if how.scale_bits == 8 else ko
                    cycles += 8 + -(-ko // 8) + 7 if how.bias else 7
                rows, columns = min(6, job.output_height - y), min(6, job.output_width - x)
                cycles += ((rows - 1) * 6 + columns) * (1 if job.output_bits == 8 else -(-ko // 8)) + 3
                cycles += 1
    return cycles


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_layers(name: str, golden_data: Path, make_machine: Callable[..., Machine]) -> None:
    """Model and planner, weights in L1 and in weight memory; depthwise has no quirk there."""
    vector = GoldenVector.load(golden_data / "neureka_vectors" / f"{name}.npz")
    for variant in ("l1", "wmem"):
        job, at, image = vector.variant(variant)
        for delays in ((), (0,)):
            machine = make_machine(delays, timing_revision=RTL, gvsoc_dw_wmem_quirk=1)
            vector.load_into(machine, at, job.weight_memory)
            assert machine.run(image) == job_cycles(job, AS_RTL) == GOLDEN[name]
            assert (vector.output_from(machine, at) == vector.arrays["output"]).all()


@pytest.mark.parametrize("name", RECONSTRUCTED)
def test_layers_known_by_their_cycles(name: str, make_machine: Callable[..., Machine]) -> None:
    """Both revisions give the stated counts for one and the same shape."""
    rtl, simulator, job = RECONSTRUCTED[name]
    for revision, cycles in ((RTL, rtl), (CURRENT, simulator)):
        machine = make_machine(timing_revision=revision)
        assert machine.run(list(register_image(job, PLACES))) == job_cycles(
            job, NeurekaTiming(timing_revision=revision)
        )
        assert job_cycles(job, NeurekaTiming(timing_revision=revision)) == cycles


def test_random_jobs_take_the_sum_of_their_phases() -> None:
    """Jobs of every mode, without what was not measured: stream-in, shifts of channels, prefetch."""
    jobs = [make_random_job(seed).job for seed in range(200)]
    measured = [
        j for j in jobs if not (j.prefetch or j.stream_in or (j.requantization and j.requantization.shift_vector))
    ]
    assert len(measured) > 50 and {job.mode for job in measured} == set(Mode) - {Mode.LINEAR}
    for job in measured:
        assert job_cycles(job, AS_RTL) == phases(job), job


def border_job(**how: Any) -> NeurekaJob:
    """Four subtiles, of which three lie on a border."""
    return NeurekaJob(Mode.DENSE_3X3, 28, 32, 7, 8, ONES, **how)


def test_the_whole_window_is_loaded(make_machine: Callable[..., Machine]) -> None:
    """64 pixels for each subtile, whatever exists of them, and all of them in the count of bytes."""
    job = border_job()
    words = list(register_image(job, PLACES))
    accesses, read = {}, {}
    for revision in (CURRENT, RTL):
        machine = make_machine((0,), timing_revision=revision)
        machine.run(words)
        accesses[revision], read[revision] = machine.accesses, machine.statistics["l1_bytes"]
    # Rows of 8 and 2, columns of 8 and 3 pixels; the same weights, scales, biases and outputs.
    existing = (8 + 2) * (8 + 3)
    assert accesses[RTL] - accesses[CURRENT] == 4 * 64 - existing
    assert read[RTL] - read[CURRENT] == (4 * 64 - existing) * 28


def test_masked_pixels_are_not_claimed(make_machine: Callable[..., Machine]) -> None:
    """They cannot change a result: whoever writes there meanwhile does no harm."""
    words = list(register_image(border_job(), PLACES))
    claims = []
    for revision in (CURRENT, RTL):
        machine = make_machine(timing_revision=revision)
        machine.submit(words)
        claims.append([(c.address, c.bytes, c.is_write) for c in machine.claims])
    assert claims[0] == claims[1]


def test_prefetch_reads_beside_the_second_half_of_the_weights(make_machine: Callable[..., Machine]) -> None:
    """The assumption: a full 1x1 step of 87 cycles takes 6 + 16 + 41 + 2, a full 3x3 step hides its load."""
    places = Addresses(PLACES.input, PLACES.output, WEIGHT_MEMORY_BASE, PLACES.scale, PLACES.bias)
    for mode, channels, saved in ((Mode.POINTWISE, 64, 87 - 65), (Mode.DENSE_3X3, 56, 69)):
        plain = NeurekaJob(mode, channels, 32, 6, 6, weight_memory=True)
        ahead = NeurekaJob(mode, channels, 32, 6, 6, weight_memory=True, prefetch=True)
        assert job_cycles(plain, AS_RTL) - job_cycles(ahead, AS_RTL) == saved
        calm = make_machine((0,), timing_revision=RTL)
        assert calm.run(list(register_image(ahead, places))) == job_cycles(ahead, AS_RTL)


def test_late_pixels_wait_behind_the_weights(make_machine: Callable[..., Machine]) -> None:
    """In 3x3 the second load has 65 cycles to spare beside 134 of the weight phase."""
    job = NeurekaJob(
        Mode.DENSE_3X3, 56, 32, 6, 6, weight_memory=True, prefetch=True, requantization=None, output_bits=32
    )
    words = list(register_image(job, Addresses(PLACES.input, PLACES.output, WEIGHT_MEMORY_BASE)))
    calm, late = (make_machine(delays, timing_revision=RTL) for delays in ((0,), (1,)))
    calm_cycles, late_cycles = calm.run(words), late.run(words)
    assert calm.accesses == 2 * 64 + 4 * 36
    # The first load and the results wait in full.
    assert late_cycles - calm_cycles == 64 + 4 * 36


def test_remainders_that_contain_the_padding_are_refused(make_machine: Callable[..., Machine]) -> None:
    """The hardware sources get border pixels wrong then; the public simulator does not."""
    words = list(register_image(border_job(), PLACES))
    machine = make_machine(timing_revision=CURRENT)
    words[17] += 1 << 16
    machine.run(words)
    with pytest.raises(GuestFault, match="state SUBTILE_REM2 minus bottom and right padding"):
        make_machine(timing_revision=RTL).run(words)


def test_unknown_revisions(make_machine: Callable[..., Machine]) -> None:
    """Model and planner name the revisions there are."""
    with pytest.raises(UserError, match="choose 202603, 202604 or 0 for the RTL"):
        make_machine(timing_revision=202512)
    with pytest.raises(UserError, match="choose 202603, 202604 or 0 for the RTL"):
        NeurekaTiming.of({"timing_revision": 202512})
