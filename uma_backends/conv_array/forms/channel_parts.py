"""A layer of one subtile of pixels in parts of channels: the cores finish one while the array makes the next.

Tiles do the same where a layer has several. Results of a part lie side by side; the cores write them between those of
the others.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma import Call, Job, Kernel, Local, Pointer, Step, step_call
from uma_backends.conv_array.modes import Mode

_MOST_PARTS = 4
# What core 0 takes to submit a further job, and what further parts have to save.
_SUBMIT_CYCLES, _LEAST_SAVED = 100, 200
# Kernels that write between channels of others.
_KERNELS = ("requantize",)


class Divided(Protocol):
    """As much of a form as parts need."""

    @property
    def context(self) -> Any: ...

    @property
    def mode(self) -> Mode: ...

    @property
    def packed(self) -> Tensor: ...


def in_parts(form: Divided, job: Job, raw: Local, end: Sequence[Step]) -> list[Step] | None:
    """The job and the steps behind it, in parts; None where that saves nothing, or the cores' kernel has no parts."""
    kernels = [step for step in end if isinstance(step, Kernel)]
    if len(kernels) != 1 or kernels[0].operator not in _KERNELS or job.writes != (raw,):
        return None
    subtile = form.context.depthwise_channels if form.mode is Mode.DEPTHWISE_3X3 else form.context.output_channels
    channels = raw.spec.shape[-1]
    subtiles, call = -(-channels // subtile), step_call(kernels[0], form.context.costs)
    if subtiles < 2 or not isinstance(call, Call):
        return None
    best, least = None, job.cycles + call.cost.cycles - _LEAST_SAVED
    for count in range(2, min(_MOST_PARTS, subtiles) + 1):
        firsts = [min(subtile * (subtiles * n // count), channels) for n in range(count + 1)]
        parts = [_part(form, job, raw, kernels[0], *ends) for ends in pairwise(firsts)]
        cycles = _cycles(parts, form.context.costs)
        if cycles < least:
            best, least = parts, cycles
    if best is None:
        return None
    steps: list[Step] = [best[0][0]]
    for (_, finish), (following, _) in pairwise(best):
        # The array always has a job to go on with.
        steps += [following, finish]
    at = list(end).index(kernels[0])
    return [*end[:at], *steps, best[-1][1], *end[at + 1 :]]


def _cycles(parts: Sequence[tuple[Job, Kernel]], costs: CostModel) -> int:
    """From the first job to the end of the last call."""
    array = cores = 0
    for job, kernel in parts:
        array += job.cycles
        call = step_call(kernel, costs)
        assert isinstance(call, Call)
        cores = max(cores + _SUBMIT_CYCLES, array) + call.cost.cycles
    return cores


def _part(form: Divided, job: Job, raw: Local, kernel: Kernel, first: int, last: int) -> tuple[Job, Kernel]:
    whole, size, context = job.description, last - first, form.context
    *places, channels = raw.spec.shape
    pixel, row = whole.job.input_strides
    is_depthwise = form.mode is Mode.DEPTHWISE_3X3
    depth = size if is_depthwise else whole.job.input_channels
    made = replace(
        whole.job, input_channels=depth, output_channels=size, input_pixel_stride=pixel, input_row_stride=row
    )
    results = Local("raw", TensorSpec((*places, size), raw.spec.dtype), raw.slack // channels * size)
    rows = first // context.depthwise_channels if is_depthwise else first
    later = {"weights": rows * form.packed.spec.shape[1], "input": first * is_depthwise, "bias": 4 * first}
    scale = first * whole.scale.operand.spec.itemsize if whole.scale else 0
    part = replace(whole.behind(**later, scale=scale, shift=first), job=made, output=Pointer(results))
    attributes = {**kernel.attributes, "first_channel": first}
    return context.step(part), replace(kernel, attributes=attributes, inputs=(results, *kernel.inputs[1:]))
