"""The arithmetic of a job in numpy, written from the arithmetic rules and independent of packing and subtiles."""

import numpy as np

from tvm_pulp.uma.conv_array.reference import IntArray, accumulate, finish, pad_input
from uma_backends.ne16.geometry import Mode
from uma_backends.ne16.job import ArrayJob


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
    counted = weight.astype(np.int64)
    if job.mode.kernel == 3:
        mask, kept = job.filter_mask, np.zeros((3, 3), np.int64)
        kept[mask.top : 3 - mask.bottom, mask.left : 3 - mask.right] = 1
        counted = counted * kept
    if job.strided:
        pad = job.padding
        sides = ((pad.top, pad.bottom), (pad.left, pad.right), (0, 0))
        padded = np.pad(data.astype(np.int64), sides, constant_values=pad.value)
    else:
        padded = pad_input(data, job.padding)
    accumulator = accumulate(padded, counted, job.mode is Mode.DEPTHWISE_3X3)
    accumulator = accumulator[::2, ::2] if job.strided else accumulator
    return finish(job, accumulator, scale, bias, shift, partial)
