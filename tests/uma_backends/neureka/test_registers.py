"""Register images of described jobs."""

from dataclasses import replace
from typing import Any

import pytest

from tvm_pulp.errors import UserError
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob, Padding, Requantization
from uma_backends.neureka.registers import WORD_NAMES, Addresses, register_image

WORKED_EXAMPLE = NeurekaJob(
    Mode.DENSE_3X3, 29, 33, 9, 7, Padding(1, 1, 1, 1), input_signed=True, weight_memory=True,
    requantization=Requantization(shift=17, relu=False),
)  # fmt: skip
AT = Addresses(0x1000_2000, 0x1000_8000, 0x1041_0000, 0x1000_7000, 0x1000_7100)


def test_worked_example() -> None:
    """The example of the hardware description, word for word."""
    assert register_image(WORKED_EXAMPLE, AT) == (
        0x00010000, 0x10001F18, 0x10008000, 0x10007000, 0x00000000, 0x10007100,
        0x0000001D, 0x000000CB, 0x00000000, 0x00000020, 0x00000021, 0x000000E7,
        0x00000020, 0x00000200, 0x00000000, 0x00010001, 0x00030001, 0x00040002,
        0x00020002, 0x00020002, 0x11110000, 0xFFFFFF80, 0x00000000, 0x06918217,
    )  # fmt: skip


def test_input_tensor_shape_follows_from_the_output() -> None:
    """Padding shrinks what must be present in memory."""
    assert (WORKED_EXAMPLE.input_height, WORKED_EXAMPLE.input_width) == (9, 7)
    assert WORKED_EXAMPLE.macs == 9 * 7 * 33 * 29 * 9


@pytest.mark.parametrize("bottom", range(3))
@pytest.mark.parametrize("right", range(3))
def test_input_remainders_are_stated_minus_padding(bottom: int, right: int) -> None:
    """The last window counts what is loaded: with padded rows or columns in it, hardware gets border pixels wrong."""
    for mode in (Mode.DENSE_3X3, Mode.DEPTHWISE_3X3):
        job = NeurekaJob(mode, 5, 5, 10, 9, Padding(1, bottom, 1, right))
        words = dict(zip(WORD_NAMES, register_image(job, AT), strict=True))
        assert (words["SUBTILE_REM2"] >> 16, words["SUBTILE_REM2"] & 0xFFFF) == (4 + 2 - bottom, 3 + 2 - right)


def test_shift_vector_and_stream_in_bits() -> None:
    """Optional features set their pointer and their bit."""
    how = Requantization(scale_bits=32, shift_vector=True, bias=False)
    job = replace(WORKED_EXAMPLE, requantization=how, output_bits=32, stream_in=True, prefetch=True)
    words = dict(zip(WORD_NAMES, register_image(job, replace(AT, shift=0x1000_9000)), strict=True))
    assert words["SCALE_SHIFT_PTR"] == 0x1000_9000
    assert words["SCALE_BIAS_PTR"] == 0
    assert words["CONFIG0"] == 7 | 1 << 4 | 1 << 9 | 1 << 10 | 2 << 12 | 1 << 14 | 1 << 15 | 2 << 21 | 1 << 24 | 1 << 26


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output_height": 0}, "every dimension must be at least 1"),
        ({"weight_bits": 1}, "weights have 1 bits, use 2 to 8"),
        ({"weight_offset": 2**31}, "does not fit 32 bits"),
        ({"mode": Mode.POINTWISE}, "a 1x1 job cannot be padded"),
        ({"padding": Padding(top=3)}, "exceeds 2 pixels"),
        ({"output_height": 2, "padding": Padding(2, 2)}, "consists of padding only"),
        ({"mode": Mode.DEPTHWISE_3X3}, "as many output as input channels"),
        ({"prefetch": True, "weight_memory": False}, "prefetch hangs with weights in L1"),
        ({"mode": Mode.DEPTHWISE_3X3, "output_channels": 29, "prefetch": True}, "not defined in depthwise mode"),
        ({"output_bits": 16}, "outputs have 16 bits"),
        ({"stream_in": True}, "stream-in needs 32-bit output"),
        ({"requantization": None}, "raw accumulators need 32-bit output"),
        ({"requantization": Requantization(scale_bits=16)}, "scales have 16 bits"),
        ({"requantization": Requantization(shift=32)}, "shift 32 is outside 0 to 31"),
    ],
)
def test_impossible_jobs(change: dict[str, Any], message: str) -> None:
    """A job that no NEUREKA runs cannot be described."""
    with pytest.raises(UserError, match=message):
        replace(WORKED_EXAMPLE, **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output_height": 7, "padding": Padding(bottom=2)}, "output height 7 with 2 padded pixels"),
        ({"output_width": 13, "padding": Padding(right=2)}, "output width 13 with 2 padded pixels"),
        ({"output_height": 6 * 65536}, "more than 65535 subtiles"),
    ],
)
def test_jobs_the_subtiles_break(change: dict[str, Any], message: str) -> None:
    """Limits that depend on the array size show up when the registers are computed."""
    with pytest.raises(UserError, match=message):
        register_image(replace(WORKED_EXAMPLE, **change), AT)
