"""The C model against the numpy reference on random jobs: shapes, strides, bits, signs, paddings, stream-in."""

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pytest

from tests.uma_backends import array_reference as reference
from tests.uma_backends.flat_machine import L1_BASE, Machine
from uma_backends.neureka.geometry import Geometry, Mode
from uma_backends.neureka.job import NeurekaJob, Padding, Requantization
from uma_backends.neureka.packing import pack_weights
from uma_backends.neureka.registers import Addresses, register_image
from uma_backends.neureka.timing import NeurekaTiming, job_cycles

from .random_job import make_random_job

GEOMETRIES = (
    Geometry(pe_rows=4, pe_columns=4),
    Geometry(pe_rows=2, pe_columns=7, channels_1x1=16, channels_3x3=14, output_channels=16, weight_beat_bytes=16),
    Geometry(pe_rows=8, pe_columns=5, channels_3x3=32, weight_beat_bytes=36),
)


@pytest.mark.parametrize("block", range(20))
def test_random_jobs(block: int, machine: Machine) -> None:
    """Outputs are those of the reference, all other bytes of L1 keep their value, the time is the formula's."""
    random = np.random.default_rng(block)
    for seed in range(20 * block, 20 * block + 20):
        case = make_random_job(seed)
        machine.l1[:] = random.integers(0, 256, machine.l1.size)
        case.load_into(machine)
        before = machine.l1.copy()
        assert machine.run(case.words) == job_cycles(case.job), case.job
        np.testing.assert_array_equal(machine.l1, case.expected_l1(before), err_msg=str(case.job))


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_other_geometries(geometry: Geometry, make_machine: Callable[..., Machine]) -> None:
    """The array size is a parameter of model, packing, registers and timing alike."""
    machine = make_machine(**asdict(geometry), beat_w=1450, beat_x=1300)
    timing = NeurekaTiming(geometry, beat_w=1450, beat_x=1300)
    random = np.random.default_rng(0)
    for seed in range(40):
        case = make_random_job(seed, geometry)
        machine.l1[:] = random.integers(0, 256, machine.l1.size)
        case.load_into(machine)
        before = machine.l1.copy()
        assert machine.run(case.words) == job_cycles(case.job, timing), case.job
        np.testing.assert_array_equal(machine.l1, case.expected_l1(before), err_msg=str(case.job))


def run_3x3(
    machine: Machine, words: list[int], data: np.ndarray, weight: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """Run a raw 3x3 job with its operands at fixed places."""
    machine.l1[:] = 77
    machine.write_l1(L1_BASE + 0x1000, data)
    machine.write_l1(L1_BASE + 0x8000, pack_weights(weight, Mode.DENSE_3X3))
    machine.run(words)
    return machine.read_l1(L1_BASE + 0x20000, shape, np.int32)


def raw_3x3(height: int, padding: Padding) -> tuple[NeurekaJob, list[int], np.ndarray, np.ndarray]:
    """A 3x3 job of 4 channels with 32-bit output."""
    random = np.random.default_rng(height)
    job = NeurekaJob(Mode.DENSE_3X3, 4, 8, height, 6, padding, output_bits=32, requantization=None)
    words = list(register_image(job, Addresses(L1_BASE + 0x1000, L1_BASE + 0x20000, L1_BASE + 0x8000)))
    data = random.integers(0, 256, (job.input_height, job.input_width, 4)).astype(np.uint8)
    return job, words, data, random.integers(-128, 128, (8, 4, 3, 3))


def test_input_remainder_of_zero_loads_and_then_pads_the_bottom(machine: Machine) -> None:
    """Where the last subtile loads a full window, its padded bottom rows take the padding value instead of zero."""
    _, words, data, weight = raw_3x3(6, Padding(bottom=1, value=9))
    words[17] &= 0x0000_FFFF
    result = run_3x3(machine, words, data, weight, (6, 6, 8))
    padded = np.concatenate([data, np.full((1, *data.shape[1:]), 9, np.uint8)])
    np.testing.assert_array_equal(result, reference.accumulate(padded, weight, depthwise=False))


def test_two_padded_rows_behind_a_one_row_subtile_are_read_from_memory(machine: Machine) -> None:
    """Why `check_on` refuses this shape: the last but one subtile loads the row behind the tensor."""
    job, words, data, weight = raw_3x3(8, Padding(bottom=2))
    # Seven output rows leave one row to the last subtile, whose window shrinks with it; the tensor has seven rows.
    words[16] = 1 << 16 | 6
    words[17] = 1 << 16 | 8
    result = run_3x3(machine, words, data[:7], weight, (7, 6, 8))
    right = reference.accumulate(reference.pad_input(data[:7], job.padding), weight, depthwise=False)
    from_memory = np.concatenate([data[:7], np.full((2, *data.shape[1:]), 77, np.uint8)])
    wrong = reference.accumulate(from_memory, weight, depthwise=False)
    np.testing.assert_array_equal(result[:5], right[:5])
    np.testing.assert_array_equal(result[5], wrong[5])
    np.testing.assert_array_equal(result[6], right[6])
    assert not np.array_equal(result[5], right[5])


def test_a_job_may_overwrite_the_input_of_its_own_past(machine: Machine) -> None:
    """Output over input is safe pixel by pixel where one subtile covers all channels."""
    job = NeurekaJob(Mode.POINTWISE, 16, 16, 12, 12, requantization=Requantization(shift=10))
    random = np.random.default_rng(1)
    data = random.integers(0, 256, (12, 12, 16)).astype(np.uint8)
    weight = random.integers(-128, 128, (16, 16, 1, 1))
    scale, bias = random.integers(1, 9, 16).astype(np.uint8), random.integers(-99, 99, 16).astype(np.int32)
    at = Addresses(L1_BASE, L1_BASE, L1_BASE + 0x8000, L1_BASE + 0x9000, L1_BASE + 0xA000)
    for address, array in (
        (at.input, data),
        (at.weights, pack_weights(weight, job.mode)),
        (at.scale, scale),
        (at.bias, bias),
    ):
        machine.write_l1(address, array)
    machine.run(register_image(job, at))
    expected = reference.run(job, data, weight, scale, bias)
    np.testing.assert_array_equal(machine.read_l1(at.output, expected.shape, np.uint8), expected)


def test_weight_planes_above_the_width_do_not_count_in_1x1(machine: Machine) -> None:
    """A 1x1 beat always has eight planes; those beyond the configured bits are ignored."""
    job = NeurekaJob(Mode.POINTWISE, 32, 8, 1, 1, weight_bits=3, weight_offset=0, output_bits=32, requantization=None)
    at = Addresses(L1_BASE, L1_BASE + 0x1000, L1_BASE + 0x2000)
    random = np.random.default_rng(2)
    data = random.integers(0, 256, (1, 1, 32)).astype(np.uint8)
    weight = random.integers(0, 256, (8, 32, 1, 1))
    machine.write_l1(at.input, data)
    machine.write_l1(at.weights, pack_weights(weight, job.mode, 8, 0))
    machine.run(register_image(job, at))
    expected = reference.accumulate(data, weight & 7, depthwise=False)
    np.testing.assert_array_equal(machine.read_l1(at.output, (1, 1, 8), np.int32), expected)


def test_stream_in_chains_input_channel_slices(machine: Machine) -> None:
    """Two jobs over slices of the input channels, the second adding to the first, equal one job over all."""
    random = np.random.default_rng(3)
    data = random.integers(-128, 128, (7, 5, 90)).astype(np.int8)
    weight = random.integers(-128, 128, (33, 90, 1, 1))
    machine.write_l1(L1_BASE, data)
    for first, last, stream_in in ((0, 50, False), (50, 90, True)):
        job = NeurekaJob(
            Mode.POINTWISE, last - first, 33, 7, 5, input_signed=True, output_bits=32, requantization=None,
            stream_in=stream_in, input_pixel_stride=90, input_row_stride=450,
        )  # fmt: skip
        machine.write_l1(L1_BASE + 0x10000, pack_weights(weight[:, first:last], job.mode))
        at = Addresses(L1_BASE + first, L1_BASE + 0x20000, L1_BASE + 0x10000)
        machine.run(register_image(job, at))
    expected = reference.accumulate(data, weight, depthwise=False)
    np.testing.assert_array_equal(machine.read_l1(L1_BASE + 0x20000, (7, 5, 33), np.int32), expected)
