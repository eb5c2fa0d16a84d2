"""Run a form in numpy, job by job on flat buffers: the proof that its pointers, strides and weights are right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uma_backends.neureka import reference
from uma_backends.neureka.lowering.form import Form, IntArray, Step, output_type


def interpret(
    form: Form,
    data: IntArray,
    weight: IntArray,
    scale: IntArray | None = None,
    bias: IntArray | None = None,
    shift: IntArray | None = None,
) -> IntArray:
    """Return the HWC output of a form for OIHW weights."""
    source = np.ascontiguousarray(form.prepare(data))
    target = np.zeros(output_bytes(form), np.uint8)
    for step, weights in zip(form.steps, form.step_weights(weight), strict=True):
        _run_step(step, source, target, weights, scale, bias, shift)
    return form.finish(target, scale, bias, shift)


def output_bytes(form: Form) -> int:
    """Return the size of the buffer the jobs of a form write."""
    return max(_output_end(step) for step in form.steps)


def _output_end(step: Step) -> int:
    job = step.job
    pixel, row = job.output_strides
    last = (job.output_height - 1) * row + (job.output_width - 1) * pixel
    return step.output_offset + last + job.output_channels * job.output_bytes


def _run_step(
    step: Step,
    source: IntArray,
    target: NDArray[np.uint8],
    weights: IntArray,
    scale: IntArray | None,
    bias: IntArray | None,
    shift: IntArray | None,
) -> None:
    job = step.job
    pixel, row = job.input_strides
    shape = (job.input_height, job.input_width, job.input_channels)
    needed = step.input_offset + (shape[0] - 1) * row + (shape[1] - 1) * pixel + shape[2]
    if needed > source.size:
        raise IndexError(f"{job.mode.name} job reads {needed} bytes of a buffer of {source.size}")
    view = np.lib.stride_tricks.as_strided(source[step.input_offset :], shape, (row, pixel, 1), writeable=False)
    kind = output_type(job)
    out_pixel, out_row = job.output_strides
    typed = target[step.output_offset :].view(kind)
    result = np.lib.stride_tricks.as_strided(
        typed,
        (job.output_height, job.output_width, job.output_channels),
        (out_row, out_pixel, job.output_bytes),
    )
    partial = result.copy() if job.stream_in else None
    result[...] = reference.run(job, view, weights, scale, bias, shift, partial)
