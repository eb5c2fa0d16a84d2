"""One NEUREKA job: what a tile computes, without addresses."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tvm_pulp.errors import UserError
from tvm_pulp.uma.conv_array.base_job import MAX_SUBTILES, BaseJob
from tvm_pulp.uma.conv_array.requantization import MAX_PADDING, Padding, Requantization
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode, remainder, subtiles

__all__ = ["ArrayJob", "Padding", "Requantization", "check_on"]


@dataclass(frozen=True, slots=True)
class ArrayJob(BaseJob):
    """A tile as NEUREKA executes it."""

    array: ClassVar[str] = "NEUREKA"

    input_signed: bool = False
    weight_memory: bool = False
    prefetch: bool = False

    def impossible(self) -> Iterable[tuple[bool, str]]:
        return _impossible(self)


def _impossible(job: ArrayJob) -> tuple[tuple[bool, str], ...]:
    """Reasons why no NEUREKA runs a job, and whether they apply."""
    pad, how, depthwise = job.padding, job.requantization, job.mode is Mode.DEPTHWISE_3X3
    sides = (pad.top, pad.bottom, pad.left, pad.right)
    return (
        (
            min(job.input_channels, job.output_channels, job.output_height, job.output_width) < 1,
            "every dimension must be at least 1",
        ),
        (job.mode is Mode.LINEAR, "the array has no linear mode, use 1x1"),
        (not 2 <= job.weight_bits <= 8, "weights have {job.weight_bits} bits, use 2 to 8"),
        (not -(2**31) <= job.weight_offset < 2**31, "weight offset {job.weight_offset} does not fit 32 bits"),
        (job.mode is Mode.POINTWISE and any(sides), "a 1x1 job cannot be padded, pad the tensor in memory"),
        (
            not all(0 <= side <= MAX_PADDING for side in sides),
            f"padding {sides} exceeds {MAX_PADDING} pixels on a side, pad the tensor in memory",
        ),
        (min(job.input_height, job.input_width) < 1, "the output consists of padding only, shrink the padding"),
        (
            depthwise and job.input_channels != job.output_channels,
            "depthwise needs as many output as input channels, split the multiplier into jobs",
        ),
        (
            job.prefetch and not job.weight_memory,
            "prefetch hangs with weights in L1, put the weights into weight memory",
        ),
        (job.prefetch and depthwise, "prefetch is not defined in depthwise mode, switch it off"),
        (job.output_bits not in (8, 32), "outputs have {job.output_bits} bits, use 8 or 32"),
        (job.stream_in and job.output_bits != 32, "stream-in needs 32-bit output, requantize on the cores"),
        (how is None and job.output_bits != 32, "raw accumulators need 32-bit output"),
        (how is not None and how.scale_bits not in (8, 32), "scales have {how.scale_bits} bits, use 8 or 32"),
        (how is not None and not 0 <= how.shift <= 31, "shift {how.shift} is outside 0 to 31"),
    )


def check_on(job: ArrayJob, geometry: Geometry = SIRACUSA) -> None:
    """Raise UserError where the array's subtiles break a job that is legal by itself.

    With two padded rows at the bottom and a last subtile of one row, the subtile before would read one padding row
    from memory (columns alike): the hardware masks only the last subtile.
    """
    sizes = (
        (job.input_channels, geometry.input_subtile(job.mode)),
        (job.output_channels, geometry.output_subtile(job.mode)),
        (job.output_height, geometry.pe_rows),
        (job.output_width, geometry.pe_columns),
    )
    if any(subtiles(size, subtile) > MAX_SUBTILES for size, subtile in sizes):
        raise UserError(f"NEUREKA job: a dimension needs more than {MAX_SUBTILES} subtiles, cut it into several jobs.")
    for name, size, subtile, padding in (
        ("height", job.output_height, geometry.pe_rows, job.padding.bottom),
        ("width", job.output_width, geometry.pe_columns, job.padding.right),
    ):
        if padding == 2 and size > subtile and remainder(size, subtile) == 1:
            raise UserError(
                f"NEUREKA job: output {name} {size} with 2 padded pixels at its end leaves a subtile of 1 pixel, "
                f"which the hardware pads wrongly; cut the tile elsewhere."
            )
