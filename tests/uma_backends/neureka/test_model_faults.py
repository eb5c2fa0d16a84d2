"""Everything the NPU cannot do, or nobody verified, stops the simulation with one sentence."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.uma_backends.flat_machine import L1_BASE, L1_BYTES, NEVER, TRIGGER, WEIGHT_BYTES, Machine
from tvm_pulp.errors import GuestFault, UserError
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob, Padding, Requantization
from uma_backends.neureka.registers import WEIGHT_MEMORY_BASE, WORD_NAMES, Addresses, register_image

AT = Addresses(
    L1_BASE + 0x1000, L1_BASE + 0x2000, L1_BASE + 0x4000, L1_BASE + 0x6000, L1_BASE + 0x7000, L1_BASE + 0x8000
)
DENSE = NeurekaJob(Mode.DENSE_3X3, 30, 40, 8, 7, Padding(1, 1, 1, 1))
POINTWISE = NeurekaJob(Mode.POINTWISE, 30, 40, 8, 7)
DEPTHWISE = NeurekaJob(Mode.DEPTHWISE_3X3, 30, 30, 8, 7, Padding(1, 1, 1, 1))
RAW = replace(DENSE, output_bits=32, requantization=None)


def set_bits(name: str, low: int, bits: int, value: int) -> Callable[[list[int]], None]:
    """Return an edit of one register field."""

    def edit(words: list[int]) -> None:
        index = WORD_NAMES.index(name)
        words[index] = words[index] & ~(((1 << bits) - 1) << low) | value << low

    return edit


FAULTS = {
    "one-bit weights": (DENSE, set_bits("CONFIG0", 0, 3, 0), "weight width is 1 bit"),
    "16-bit activations": (DENSE, set_bits("CONFIG0", 3, 1, 1), "no 16-bit activation mode"),
    "reserved mode": (DENSE, set_bits("CONFIG0", 5, 2, 3), "filter mode 3 is reserved"),
    "linear": (POINTWISE, set_bits("CONFIG0", 7, 1, 1), "no linear mode"),
    "strided": (DENSE, set_bits("CONFIG0", 8, 1, 1), "no 2x2-strided mode"),
    "prefetch from L1": (DENSE, set_bits("CONFIG0", 10, 1, 1), "prefetch hangs with weights in L1"),
    "prefetch in depthwise": (DEPTHWISE, set_bits("CONFIG0", 9, 2, 3), "prefetch in depthwise mode was never verified"),
    "16-bit scale": (DENSE, set_bits("CONFIG0", 12, 2, 1), "scale mode 1 was never verified"),
    "scale mode 3": (DENSE, set_bits("CONFIG0", 12, 2, 3), "scale mode 3 was never verified"),
    "stream-in of bytes": (DENSE, set_bits("CONFIG0", 14, 1, 1), "stream-in needs 32-bit output"),
    "offset mode": (DENSE, set_bits("CONFIG0", 15, 1, 0), "weight offset mode 0 was never verified"),
    "16-bit output": (DENSE, set_bits("CONFIG0", 21, 2, 1), "output mode 1 is not supported"),
    "output mode 3": (DENSE, set_bits("CONFIG0", 21, 2, 3), "output mode 3 is not supported"),
    "raw bytes": (RAW, set_bits("CONFIG0", 21, 2, 0), "raw accumulators need 32-bit output"),
    "reserved bits": (DENSE, set_bits("CONFIG0", 27, 5, 1), "CONFIG0\\[31:27\\] are reserved"),
    "filter mask": (DENSE, set_bits("FILTER_MASK", 0, 32, 1), "filter masks have no agreed encoding"),
    "depthwise count": (DEPTHWISE, set_bits("SUBTILE_NB0", 0, 16, 1), "equal input and output channel subtiles"),
    "depthwise remainder": (DEPTHWISE, set_bits("SUBTILE_REM0", 0, 16, 5), "equal input and output channel subtiles"),
    "no subtiles": (DENSE, set_bits("SUBTILE_NB1", 0, 16, 0), "dimension of 0 subtiles"),
    "large remainder": (DENSE, set_bits("SUBTILE_REM1", 0, 16, 7), "remainder is larger than a subtile"),
    "large Ki remainder": (DENSE, set_bits("SUBTILE_REM0", 0, 16, 29), "remainder is larger than a subtile"),
    "large input remainder": (DENSE, set_bits("SUBTILE_REM2", 16, 16, 9), "larger than the input buffer"),
    "padded 1x1": (POINTWISE, set_bits("PADDING", 16, 4, 1), "1x1 jobs cannot be padded"),
    "three padded rows": (DENSE, set_bits("PADDING", 28, 4, 3), "at most 2 pixels"),
    "endless job": (POINTWISE, set_bits("SUBTILE_NB1", 0, 32, 0xFFFF_FFFF), "larger than any memory"),
    "input outside": (DENSE, set_bits("INFEAT_PTR", 0, 32, L1_BASE + L1_BYTES - 100), "input range .* is outside L1"),
    "output outside": (
        DENSE,
        set_bits("OUTFEAT_PTR", 0, 32, L1_BASE + L1_BYTES - 100),
        "output range .* is outside L1",
    ),
    "weights outside": (DENSE, set_bits("WEIGHTS_PTR", 0, 32, 0x1C00_0000), "weight range .* is outside L1"),
    "scale outside": (DENSE, set_bits("SCALE_PTR", 0, 32, L1_BASE + L1_BYTES - 39), "scale range .* is outside L1"),
    "bias outside": (DENSE, set_bits("SCALE_BIAS_PTR", 0, 32, 0x20000004), "bias range .* is outside L1"),
    "negative stride": (DENSE, set_bits("INFEAT_D1", 0, 32, 0xFFFF_0000), "input range .* is outside L1"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str, machine: Machine) -> None:
    """A job that is legal but for one field is refused when it starts, and the engine stops."""
    job, edit, message = FAULTS[name]
    words = list(register_image(job, AT))
    edit(words)
    with pytest.raises(GuestFault, match=message):
        machine.submit(words)
    assert machine.next_event() == NEVER


@pytest.mark.parametrize("job", [DENSE, POINTWISE, DEPTHWISE, RAW])
def test_unedited_jobs_run(job: NeurekaJob, machine: Machine) -> None:
    """The faults above come from the edited field alone."""
    machine.run(register_image(job, AT))
    assert len(machine.events) == 1


def test_weights_outside_weight_memory(machine: Machine) -> None:
    """The weight port has its own address range."""
    at = replace(AT, weights=WEIGHT_MEMORY_BASE + WEIGHT_BYTES - 32)
    with pytest.raises(GuestFault, match=r"weight range .* is outside the weight memory"):
        machine.submit(register_image(replace(DENSE, weight_memory=True), at))


def test_shift_byte_above_31(machine: Machine) -> None:
    """Per-channel shifts are read when the job ends."""
    job = replace(DENSE, requantization=Requantization(shift_vector=True))
    machine.write_l1(AT.shift, np.full(40, 32, np.uint8))
    with pytest.raises(GuestFault, match="shift of channel 0 is 32"):
        machine.run(register_image(job, AT))


def test_padding_pointer_below_l1_is_harmless(machine: Machine) -> None:
    """A tensor at the start of L1 has its padding pointer outside; masked reads do not fault."""
    words = register_image(DENSE, replace(AT, input=L1_BASE))
    assert words[1] < L1_BASE
    machine.run(words)
    assert len(machine.events) == 1


@pytest.mark.parametrize("offset", [0x04, 0x08, 0x0C, 0x10, 0x18, 0x1C, 0x22, 0x88, 0x3FC])
def test_writes_to_nothing(offset: int, machine: Machine) -> None:
    """Read-only, reserved and absent registers cannot be written."""
    with pytest.raises(GuestFault, match=f"no register at offset {offset:#x} to write"):
        machine.write(offset, 0)


@pytest.mark.parametrize("offset", [0x02, 0x80, 0x3FC])
def test_reads_of_nothing(offset: int, machine: Machine) -> None:
    """Absent registers cannot be read."""
    with pytest.raises(GuestFault, match=f"no register at offset {offset:#x} to read"):
        machine.read(offset)


def test_trace_registers_of_the_public_simulator_are_accepted(machine: Machine) -> None:
    """Programs built for that simulator write two verbosity words."""
    machine.write(0x80, 3)
    machine.write(0x84, 1)
    assert machine.read(TRIGGER) == 0xDEAD_BEEF


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pe_rows": 0}, "parameter pe_rows of neureka is 0, choose 1 to 16"),
        ({"beat_w": 0}, "parameter beat_w of neureka is 0, choose 1 to 1000000"),
        ({"gvsoc_dw_wmem_quirk": 2}, "parameter gvsoc_dw_wmem_quirk of neureka is 2, choose 0 or 1"),
        ({"colour": 1}, "neureka has no parameter colour"),
        ({"channels_3x3": 32}, "weight beat of 32 bytes is too narrow for 9 taps of 32 channels"),
        ({"channels_1x1": 30}, "channels_1x1 is 30, choose a multiple of 4"),
        ({"output_channels": 24}, "output_channels is 24, choose a multiple of 8 not below channels_3x3"),
    ],
)
def test_bad_parameters(parameters: dict[str, int], message: str, make_machine: Callable[..., Machine]) -> None:
    """Unknown or impossible parameters are refused with a reason."""
    with pytest.raises(UserError, match=message):
        make_machine(**parameters)
