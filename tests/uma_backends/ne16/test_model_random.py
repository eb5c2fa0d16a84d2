"""The C model against the numpy reference on random jobs of every mode, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from tests.uma_backends.flat_machine import L1_BASE, Machine, ModelLibrary
from tvm_pulp.errors import GuestFault, UserError
from uma_backends.ne16.geometry import Mode
from uma_backends.ne16.job import FilterMask, Ne16Job, Padding, Requantization, patches
from uma_backends.ne16.packing import pack_weights
from uma_backends.ne16.registers import Addresses, register_image
from uma_backends.ne16.timing import Ne16Timing, job_cycles

from .random_job import make_random_job


@pytest.mark.parametrize("block", range(12))
def test_random_jobs(block: int, library: ModelLibrary) -> None:
    """Outputs are those of the reference, all other bytes of L1 keep their value, the time is the formula's."""
    random = np.random.default_rng(block)
    with Machine(library, {"whole_windows": block % 2}) as machine:
        for seed in range(30 * block, 30 * block + 30):
            case = make_random_job(seed)
            machine.l1[:] = random.integers(0, 256, machine.l1.size, np.uint8)
            case.load_into(machine)
            before, macs = machine.l1.copy(), machine.statistics["macs"]
            assert machine.run(case.words) == job_cycles(case.job, Ne16Timing(block % 2)), case.job
            np.testing.assert_array_equal(machine.l1, case.expected_l1(before), err_msg=str(case.job))
            assert machine.statistics["macs"] - macs == case.job.macs


def test_every_mode_appears() -> None:
    """The random jobs above are not of one kind only."""
    jobs = [make_random_job(seed).job for seed in range(120)]
    assert {job.mode for job in jobs} == set(Mode)
    assert any(job.strided for job in jobs)
    assert any(job.input_bits == 16 for job in jobs)
    assert any(job.filter_mask != FilterMask() for job in jobs)


def test_claims_cover_what_changes(machine: Machine) -> None:
    """A job declares the bytes of its output, and no others, as written."""
    for seed in range(40):
        case = make_random_job(seed)
        case.load_into(machine)
        seen = len(machine.claims)
        machine.run(case.words)
        written = sum(claim.bytes for claim in machine.claims[seen:] if claim.is_write)
        dense = case.expected.nbytes
        assert dense <= written
        assert written == dense or case.job.output_strides[0] == case.job.output_channels * case.job.output_bytes


@pytest.mark.parametrize(
    ("word", "value", "reason"),
    [
        (23, 0x0211_8010, "weight width is 1 bit"),
        (23, 0x0211_8077, "filter mode 3 is reserved"),
        (23, 0x0211_8097, "linear mode belongs to filter mode 2"),
        (23, 0x0211_803F, "16-bit activations in 3x3 and 1x1 mode only"),
        (23, 0x0211_8157, "1x1 jobs have their stride"),
        (23, 0x0231_8017, "output mode 1 writes nothing"),
        (23, 0x0211_C017, "stream-in needs 32-bit output"),
        (23, 0x0251_C037, "stream-in is wrong in depthwise mode"),
        (23, 0x0211_8007, "raw accumulators need 32-bit output"),
        (23, 0x0211_B017, "scale mode 3 is reserved"),
        (23, 0x0211_8117, "strided jobs compute one patch"),
        (23, 0x0211_80D7, "linear mode computes one pixel"),
        (15, 0x0020_0000, "0 input channels left"),
        (15, 0x0020_0011, "remainder is larger than a subtile"),
        (17, 0x0006_0004, "input remainder is larger"),
        (18, 0x0000_0001, "dimension of 0 subtiles"),
        (19, 0xFFFF_FFFF, "larger than any memory"),
        (20, 0x3111_0000, "pads at most 2 pixels"),
        (21, 0xFFFF_FE00, "weight offset -512"),
        (22, 0x0400_0000, "masks at most 3 rows"),
        (0, 0x2000_0000, "weight range"),
    ],
)
def test_refused_words(machine: Machine, word: int, value: int, reason: str) -> None:
    """One word of a legal job at a time, each with its sentence."""
    job = Ne16Job(Mode.DENSE_3X3, 16, 32, 6, 6, Padding(1, 1, 1, 1), requantization=Requantization(shift=17))
    at = Addresses(L1_BASE + 0x100, L1_BASE + 0x1000, L1_BASE + 0x2000, L1_BASE + 0x8000, L1_BASE + 0x9000)
    words = list(register_image(job, at))
    machine.run(words)
    words[word] = value
    with pytest.raises(GuestFault, match=reason):
        machine.run(words)


def test_unequal_channels_of_a_depthwise_job_are_refused(machine: Machine) -> None:
    job = Ne16Job(Mode.DEPTHWISE_3X3, 16, 16, 3, 3, output_bits=32, requantization=None)
    words = list(register_image(job, Addresses(L1_BASE, L1_BASE + 0x1000, L1_BASE + 0x2000)))
    words[15] = 0x0010_000F
    with pytest.raises(GuestFault, match="depthwise needs equal input and output"):
        machine.run(words)


def test_a_shift_of_more_than_31_is_refused(machine: Machine) -> None:
    job = Ne16Job(Mode.POINTWISE, 4, 4, 1, 1, requantization=Requantization(shift_vector=True))
    at = Addresses(L1_BASE, L1_BASE + 0x100, L1_BASE + 0x200, L1_BASE + 0x300, L1_BASE + 0x400, L1_BASE + 0x500)
    machine.write_l1(at.shift, np.array([3, 32, 0, 0], np.uint8))
    with pytest.raises(GuestFault, match="shift of channel 1 is 32"):
        machine.run(register_image(job, at))


def test_an_unknown_parameter_is_refused(library: ModelLibrary) -> None:
    with pytest.raises(UserError, match="ne16 has no parameter pe_rows"):
        Machine(library, {"pe_rows": 6})
    with pytest.raises(UserError, match="ne16 has no parameter 'pe_rows'"):
        Ne16Timing.of({"pe_rows": 6})
    with pytest.raises(UserError, match="whole_windows is 2, choose 0 or 1"):
        Ne16Timing.of({"whole_windows": 2})


PLAIN = Ne16Job(Mode.DENSE_3X3, 16, 32, 6, 6)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"output_height": 0}, "at least 1"),
        ({"weight_bits": 1}, "weights have 1 bits"),
        ({"weight_offset": -257}, "outside -256 to 255"),
        ({"mode": Mode.POINTWISE, "padding": Padding(1)}, "1x1 job cannot be padded"),
        ({"padding": Padding(3)}, "exceeds 2 pixels"),
        ({"output_height": 7, "padding": Padding(bottom=2)}, "padded wrongly"),
        ({"mode": Mode.DEPTHWISE_3X3}, "as many output as input"),
        ({"mode": Mode.LINEAR}, "computes one pixel"),
        ({"mode": Mode.LINEAR, "output_height": 1, "output_width": 1, "input_channels": 17}, "in sixteens"),
        ({"strided": True}, "at most 2x2"),
        ({"stream_in": True}, "stream-in needs 32-bit"),
        ({"requantization": None}, "raw accumulators"),
        ({"requantization": Requantization(scale_bits=24)}, "scales have 24 bits"),
    ],
)
def test_refused_jobs(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        replace(PLAIN, **changes)  # type: ignore[arg-type]


def test_patches_of_a_small_input_are_refused() -> None:
    with pytest.raises(UserError, match="4x4 pixels are too few"):
        patches(replace(PLAIN, output_height=2, output_width=2), 4, 4)


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UserError, match="-9 to 7 do not fit 4 bits above the offset -8"):
        pack_weights(np.array([-9, 7]).reshape(1, 2, 1, 1), Mode.POINTWISE, 4, -8)


def test_packing_of_the_smallest_example() -> None:
    """Planes of three channels, four bits: by hand."""
    packed = pack_weights(np.array([-8, 7, 1]).reshape(1, 3, 1, 1), Mode.POINTWISE, 4, -8)
    assert packed.tobytes() == bytes.fromhex("0600020002000600")
