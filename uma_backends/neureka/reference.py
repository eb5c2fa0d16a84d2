"""The arithmetic of a job in numpy, written from the arithmetic rules and independent of packing and subtiles."""

import numpy as np

from tvm_pulp.uma.conv_array.reference import IntArray, accumulate, pad_input, requantize, wrap
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
    if job.stream_in:
        assert partial is not None
        accumulator = accumulator + partial
    accumulator = wrap(accumulator, 32)
    if job.requantization is None:
        return accumulator.astype(np.int32)
    assert scale is not None
    value = requantize(accumulator, job.requantization, job.output_bits, scale, bias, shift)
    if job.output_bits == 8:
        return value.astype(np.uint8 if job.requantization.relu else np.int8)
    return value.astype(np.int32)
