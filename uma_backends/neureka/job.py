"""One NEUREKA job: what a tile computes, without addresses."""

from dataclasses import dataclass
from typing import ClassVar

from tvm_pulp.errors import UserError
from uma_backends.conv_array.arithmetic.requantization import Padding, Requantization
from uma_backends.conv_array.base_job import TOO_MANY_SUBTILES, BaseJob
from uma_backends.conv_array.modes import pads_wrongly
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode

__all__ = ["NeurekaJob", "Padding", "Requantization", "check_on"]


@dataclass(frozen=True, slots=True)
class NeurekaJob(BaseJob):
    """A tile as NEUREKA executes it."""

    array: ClassVar[str] = "NEUREKA"

    input_signed: bool = False
    weight_memory: bool = False
    prefetch: bool = False

    def impossible(self) -> tuple[tuple[bool, str], ...]:
        # `super()` does not work in a class with slots, which is made twice.
        return (*BaseJob.impossible(self), *_impossible(self))

    @property
    def features(self) -> dict[int, str]:
        flags = (
            (26, self.input_signed, "signed inputs"),
            (9, self.weight_memory, "weight memory"),
            (10, self.prefetch, "prefetch"),
        )
        return {bit: name for bit, has_it, name in flags if has_it}


def _impossible(job: NeurekaJob) -> tuple[tuple[bool, str], ...]:
    """Reasons why no NEUREKA runs a job, and whether they apply."""
    how = job.requantization
    return (
        (job.mode is Mode.LINEAR, "the array has no linear mode, use 1x1"),
        (not -(2**31) <= job.weight_offset < 2**31, "weight offset {job.weight_offset} does not fit 32 bits"),
        (
            job.prefetch and not job.weight_memory,
            "prefetch hangs with weights in L1, put the weights into weight memory",
        ),
        (job.prefetch and job.mode is Mode.DEPTHWISE_3X3, "prefetch is not defined in depthwise mode, switch it off"),
        (how is not None and how.scale_bits not in (8, 32), "scales have {how.scale_bits} bits, use 8 or 32"),
    )


def check_on(job: NeurekaJob, geometry: Geometry = SIRACUSA) -> None:
    """Raise UserError where the array's subtiles break a job that is legal by itself."""
    if job.has_too_many(geometry.subtile_sizes(job.mode)):
        raise UserError(f"NEUREKA job: {TOO_MANY_SUBTILES}.")
    for name, size, subtile, padding in (
        ("height", job.output_height, geometry.pe_rows, job.padding.bottom),
        ("width", job.output_width, geometry.pe_columns, job.padding.right),
    ):
        if pads_wrongly(size, subtile, padding):
            raise UserError(
                f"NEUREKA job: output {name} {size} with 2 padded pixels at its end leaves a subtile of 1 pixel, "
                f"which the hardware pads wrongly; cut the tile elsewhere."
            )
