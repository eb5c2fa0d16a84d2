"""Every golden layer, in every form of this folder: packing, registers, reference, timing and the C model."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.uma_backends import array_reference as reference
from tests.uma_backends.flat_machine import Machine
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.packing import pack_weights
from uma_backends.neureka.registers import register_image
from uma_backends.neureka.timing import NeurekaTiming, job_cycles

from .golden_vector import NAMES, VARIANTS, GoldenVector
from .packed_size import packed_weight_bytes


def test_the_list_of_vectors_is_complete(golden_data: Path) -> None:
    """A new file in the folder must be added to the list."""
    assert sorted(path.stem for path in (golden_data / "neureka_vectors").glob("*.npz")) == sorted(NAMES)


def test_packed_bytes(vector: GoldenVector) -> None:
    """Packing gives the bytes of the reference encoder."""
    job = vector.job
    packed = pack_weights(vector.arrays["weight"], job.mode, job.weight_bits, job.weight_offset)
    np.testing.assert_array_equal(packed, vector.arrays["packed_weight"])
    assert packed.size == packed_weight_bytes(job.mode, job.input_channels, job.output_channels, job.weight_bits)


@pytest.mark.parametrize("variant", VARIANTS[:2])
def test_register_image(vector: GoldenVector, variant: str) -> None:
    """The described job gives the words of the reference driver."""
    job, at, image = vector.variant(variant)
    assert list(register_image(job, at)) == image


def test_reference_output(vector: GoldenVector) -> None:
    """The numpy reference computes the expected tensor."""
    arrays = vector.arrays
    step = vector.flags["stride"] if vector.job.mode is Mode.POINTWISE else 1
    result = reference.run(
        vector.job, arrays["input"][::step, ::step], arrays["weight"], arrays["scale"], arrays["bias"]
    )
    np.testing.assert_array_equal(result[:: vector.output_step, :: vector.output_step], arrays["output"])
    assert result.dtype == arrays["output"].dtype


@pytest.mark.parametrize("variant", VARIANTS)
def test_model(vector: GoldenVector, variant: str, make_machine: Callable[..., Machine]) -> None:
    """The C model, driven through its registers, gives output and cycles of the reference simulator."""
    cycles = vector.cycles(variant)
    if cycles is None:
        pytest.skip("the reference simulator defines no prefetch in depthwise mode")
    job, at, image = vector.variant(variant)
    machine = make_machine(gvsoc_dw_wmem_quirk=1)
    vector.load_into(machine, at, job.weight_memory)
    before = machine.l1.copy()
    assert machine.run(image) == cycles
    np.testing.assert_array_equal(vector.output_from(machine, at), vector.arrays["output"])
    assert job_cycles(job, NeurekaTiming(gvsoc_dw_wmem_quirk=True)) == cycles
    start = at.output - 0x1000_0000
    end = start + job.output_height * job.output_width * job.output_channels * job.output_bytes
    np.testing.assert_array_equal(machine.l1[:start], before[:start])
    np.testing.assert_array_equal(machine.l1[end:], before[end:])


def test_depthwise_weight_memory_without_quirk(vector: GoldenVector, machine: Machine) -> None:
    """The silicon-like default bills depthwise bit planes once, whatever memory holds them; dense is unaffected."""
    job, at, image = vector.variant("wmem")
    vector.load_into(machine, at, weight_memory=True)
    expected = vector.cycles("l1" if job.mode is Mode.DEPTHWISE_3X3 else "wmem")
    assert machine.run(image) == expected == job_cycles(job)
    if job.mode is Mode.DEPTHWISE_3X3:
        assert expected < (vector.cycles("wmem") or 0)
