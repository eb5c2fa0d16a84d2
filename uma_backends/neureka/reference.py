"""The arithmetic of a job in numpy, written from the arithmetic rules and independent of packing and subtiles."""

from tvm_pulp.uma.conv_array.reference import IntArray, accumulate, finish, pad_input
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import ArrayJob

__all__ = ["accumulate", "pad_input", "run"]


def run(
    job: ArrayJob,
    data: IntArray,
    weight: IntArray,
    scale: IntArray | None = None,
    bias: IntArray | None = None,
    shift: IntArray | None = None,
    partial: IntArray | None = None,
) -> IntArray:
    """Return the HWC output of a job for plain (not packed) OIHW weights.

    `partial` is the 32-bit tensor that stream-in adds to.
    """
    accumulator = accumulate(pad_input(data, job.padding), weight, job.mode is Mode.DEPTHWISE_3X3)
    return finish(job, accumulator, scale, bias, shift, partial)
