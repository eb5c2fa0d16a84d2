"""Every golden layer, in every form of this folder: packing, registers, reference, timing and the C model."""

from pathlib import Path

import numpy as np

from tests.uma_backends import array_reference as reference
from tests.uma_backends.flat_machine import L1_BASE, Machine, ModelLibrary
from uma_backends.ne16.packing import pack_weights
from uma_backends.ne16.registers import register_image
from uma_backends.ne16.timing import job_cycles

from .golden_vector import NAMES, GoldenVector


def test_the_list_of_vectors_is_complete(golden_data: Path) -> None:
    """A new file in the folder must be added to the list."""
    assert sorted(path.stem for path in (golden_data / "ne16_vectors").glob("*.npz")) == sorted(NAMES)


def test_packed_bytes(vector: GoldenVector) -> None:
    """Packing gives the bytes of the reference encoder."""
    job = vector.jobs[0].job
    packed = pack_weights(vector.arrays["weight"], job.mode, job.weight_bits, job.weight_offset, job.input_bits)
    np.testing.assert_array_equal(packed, vector.arrays["packed_weight"])


def test_register_images(vector: GoldenVector) -> None:
    """The described jobs give the words of the reference driver, in its order."""
    images = [register_image(patch.job, vector.addresses(patch)) for patch in vector.jobs]
    np.testing.assert_array_equal(np.array(images), vector.arrays["regs"])


def test_cycles(vector: GoldenVector) -> None:
    """The closed formula gives what the public model measured."""
    np.testing.assert_array_equal([job_cycles(patch.job) for patch in vector.jobs], vector.arrays["cycles_model"])


def test_reference_output(vector: GoldenVector) -> None:
    """The numpy reference computes the expected tensor."""
    arrays, output = vector.arrays, vector.arrays["output"]
    result = np.zeros_like(output)
    for patch in vector.jobs:
        job, at = patch.job, vector.addresses(patch)
        step = vector.flags["stride"] if job.mode.kernel == 1 else 1
        first = (at.input - vector.at.input) // job.input_bytes
        y, x = divmod(first, vector.flags["w_in"])
        data = arrays["input"][::step, ::step]
        data = data[y : y + job.input_height, x : x + job.input_width]
        operands = (data, arrays["weight"], arrays["scale"], arrays["bias"], arrays["shift_vector"])
        part = reference.run(job, *operands, arrays.get("initial_output"))
        result[patch.row : patch.row + job.output_height, patch.column : patch.column + job.output_width] = part
        assert part.dtype == output.dtype
    np.testing.assert_array_equal(result, output)


def test_waits_for_banks(vector: GoldenVector, library: ModelLibrary) -> None:
    """With a bank of L1 serving one access a cycle, jobs take as much longer as in the public system."""
    with Machine(library, {"bank_waits": 1}) as machine:
        for address, array in vector.memory:
            machine.write_l1(address, array)
        cycles = [machine.run([int(word) for word in image]) for image in vector.arrays["regs"]]
    waits = vector.arrays["cycles_system_banked"] - vector.arrays["cycles_system"]
    np.testing.assert_array_equal(cycles, vector.arrays["cycles_model"] + waits)


def test_model(vector: GoldenVector, machine: Machine) -> None:
    """The C model, driven through its registers, gives output and cycles; nothing else is written."""
    for address, array in vector.memory:
        machine.write_l1(address, array)
    expected = machine.l1.copy()
    output = np.ascontiguousarray(vector.arrays["output"]).reshape(-1).view(np.uint8)
    expected[vector.at.output - L1_BASE :][: output.size] = output
    cycles = [machine.run([int(word) for word in image]) for image in vector.arrays["regs"]]
    assert cycles == list(vector.arrays["cycles_model"])
    np.testing.assert_array_equal(machine.l1, expected)
