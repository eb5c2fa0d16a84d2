"""The arithmetic of jobs of both arrays in numpy, written from the rules, independent of packing and subtiles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uma_backends.conv_array.arithmetic.requantization import Padding, Requantization
from uma_backends.conv_array.base_job import BaseJob
from uma_backends.conv_array.modes import Mode
from uma_backends.ne16.job import Ne16Job as Ne16Job

IntArray = NDArray[np.integer[Any]]


def wrap(values: IntArray, bits: int) -> NDArray[np.int64]:
    """Return the low `bits` bits as two's complement numbers."""
    half = 1 << (bits - 1)
    return ((values.astype(np.int64) + half) & ((1 << bits) - 1)) - half


def pad_input(data: IntArray, padding: Padding) -> NDArray[np.int64]:
    """Return an HWC tensor with its padding: the value at the top and left, zero at the bottom and right.

    Bottom rows and right columns are never loaded, so the corners they share with the other sides are zero too.
    """
    top_left = np.pad(
        data.astype(np.int64), ((padding.top, 0), (padding.left, 0), (0, 0)), constant_values=padding.value
    )
    return np.pad(top_left, ((0, padding.bottom), (0, padding.right), (0, 0)))


def accumulate(padded: IntArray, weight: IntArray, depthwise: bool) -> NDArray[np.int64]:
    """Return the exact stride-1 convolution of an HWC tensor with OIHW weights."""
    kernel = weight.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(padded.astype(np.int64), (kernel, kernel), axis=(0, 1))
    if depthwise:
        result: NDArray[np.int64] = np.einsum("yxcij,cij->yxc", windows, weight[:, 0].astype(np.int64))
        return result
    rows = windows.reshape(*windows.shape[:2], -1)
    columns = weight.astype(np.int64).reshape(weight.shape[0], -1).T
    # Doubles are exact below 2^53, and their matrix product is fast.
    if rows.shape[-1] * int(np.abs(rows).max(initial=0)) * int(np.abs(columns).max(initial=0)) < 1 << 53:
        return np.rint(rows.astype(np.float64) @ columns.astype(np.float64)).astype(np.int64)
    return rows @ columns


def requantize(
    accumulator: IntArray,
    how: Requantization,
    output_bits: int,
    scale: IntArray,
    bias: IntArray | None,
    shift: IntArray | None,
) -> NDArray[np.int64]:
    """Return scaled, shifted and clipped accumulators; products keep 32 bits with a bias, 48 without."""
    # Up to 31 + 32 bits, so the product fits 64 bits.
    value = accumulator.astype(np.int64) * scale.astype(np.int64)
    if how.bias:
        assert bias is not None
        value = wrap(wrap(value, 32) + bias.astype(np.int64), 32)
    else:
        value = wrap(value, 48)
    if how.shift_vector:
        assert shift is not None
        value = value >> shift.astype(np.int64)
    else:
        value = value >> how.shift
    if output_bits == 8:
        return np.clip(value, 0, 255) if how.relu else np.clip(value, -128, 127)
    if how.relu:
        return wrap(np.maximum(value, 0), 32)
    return np.clip(value, -(2**31), 2**31 - 1)


def finish(
    job: BaseJob,
    accumulator: IntArray,
    scale: IntArray | None,
    bias: IntArray | None,
    shift: IntArray | None,
    partial: IntArray | None,
) -> IntArray:
    """Return what a job stores of its sums; `partial` is the 32-bit tensor that stream-in adds to."""
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


def run(
    job: BaseJob,
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
    counted, padded = weight.astype(np.int64), pad_input(data, job.padding)
    strided = isinstance(job, Ne16Job) and job.strided
    if isinstance(job, Ne16Job) and job.mode.kernel == 3:
        mask, kept = job.filter_mask, np.zeros((3, 3), np.int64)
        kept[mask.top : 3 - mask.bottom, mask.left : 3 - mask.right] = 1
        counted = counted * kept
    if strided:
        pad = job.padding
        sides = ((pad.top, pad.bottom), (pad.left, pad.right), (0, 0))
        padded = np.pad(data.astype(np.int64), sides, constant_values=pad.value)
    accumulator = accumulate(padded, counted, job.mode is Mode.DEPTHWISE_3X3)
    return finish(job, accumulator[::2, ::2] if strided else accumulator, scale, bias, shift, partial)
