"""What all ways of running a convolution on NEUREKA have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from uma_backends.neureka import reference
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import ArrayJob, check_on
from uma_backends.neureka.lowering.convolution import Convolution
from uma_backends.neureka.timing import DEFAULT_TIMING, Timing, job_cycles

IntArray = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Costs:
    """What surrounds a job, in cycles of the cluster clock. Core and DMA rates are estimates for eight cores."""

    timing: Timing = DEFAULT_TIMING
    prefetch: bool = True
    submit_cycles: int = 65
    """Driver call for a known shape; a queue that never runs empty hides it."""
    im2col_bytes_per_cycle: float = 8.0
    copy_bytes_per_cycle: float = 8.0
    requantized_elements_per_cycle: float = 1.3


DEFAULT_COSTS = Costs()


@dataclass(frozen=True, slots=True)
class Step:
    """One job, and where its operands lie relative to the input and output buffer of the form."""

    job: ArrayJob
    input_offset: int = 0
    output_offset: int = 0


@dataclass(frozen=True)
class Form(ABC):
    """One way to run a convolution: work of the cores before, jobs of the engine, work of the cores after.

    Subclasses say when they apply (`offer`) and what the cores do (`prepare`, `finish`); the numpy versions here are
    the definition that generated code is tested against.
    """

    name: ClassVar[str]
    convolution: Convolution
    costs: Costs
    steps: tuple[Step, ...]

    @classmethod
    @abstractmethod
    def offer(cls, convolution: Convolution, costs: Costs = DEFAULT_COSTS) -> Form | None:
        """Return this form of a convolution, or None where it does not apply; UserError where the array forbids it."""

    def __post_init__(self) -> None:
        for step in self.steps:
            check_on(step.job, self.costs.timing.geometry)

    @cached_property
    def engine_cycles(self) -> int:
        """Cycles of all jobs, back to back."""
        return sum(job_cycles(step.job, self.costs.timing) + self.costs.submit_cycles for step in self.steps)

    @property
    def delivers_accumulators(self) -> bool:
        """Whether the engine leaves 32-bit sums although the convolution wants them requantized."""
        return self.convolution.requantization is not None and self.steps[-1].job.requantization is None

    @property
    def prepared_bytes(self) -> int:
        """Bytes the cores write before the jobs (0 where the input tensor is used as it is)."""
        return 0

    @property
    def core_cycles(self) -> int:
        """Cycles of the cores before and after the jobs."""
        cycles = self.prepared_bytes / self.costs.im2col_bytes_per_cycle
        if self.delivers_accumulators:
            cycles += self.convolution.output_elements / self.costs.requantized_elements_per_cycle
        return round(cycles)

    @property
    def cycles(self) -> int:
        """Cycles of engine and cores one after the other; a pipeline over tiles can hide the smaller part."""
        return self.engine_cycles + self.core_cycles

    @property
    def scratch_bytes(self) -> int:
        """L1 bytes besides the input, weights and final output of the convolution."""
        wide = 4 * self.convolution.output_elements if self.delivers_accumulators else 0
        return self.prepared_bytes + wide

    def prepare(self, data: IntArray) -> IntArray:
        """Return the flat buffer the jobs read."""
        return data.reshape(-1)

    def step_weights(self, weight: IntArray) -> tuple[IntArray, ...]:
        """Return the OIHW weights of every step, before packing."""
        return (weight,) * len(self.steps)

    def finish(
        self, buffer: NDArray[np.uint8], scale: IntArray | None, bias: IntArray | None, shift: IntArray | None
    ) -> IntArray:
        """Return the output tensor from the bytes the jobs wrote."""
        layer = self.convolution
        shape = (layer.output_height, layer.output_width, layer.output_channels)
        if not self.delivers_accumulators:
            return buffer.view(output_type(self.steps[-1].job)).reshape(shape)
        assert scale is not None
        target = requantizing_job(layer)
        value = reference.requantize(buffer.view(np.int32).reshape(shape), target, scale, bias, shift)
        return value.astype(output_type(target))


def requantizing_job(layer: Convolution) -> ArrayJob:
    """Return a 1x1 job with the layer's output side, as a carrier of its requantization."""
    return ArrayJob(
        Mode.POINTWISE,
        1,
        layer.output_channels,
        layer.output_height,
        layer.output_width,
        output_bits=layer.output_bits,
        requantization=layer.requantization,
    )


def output_type(job: ArrayJob) -> type[np.integer[Any]]:
    """Return the element type a job writes."""
    if job.output_bits == 32:
        return np.int32
    assert job.requantization is not None
    return np.uint8 if job.requantization.relu else np.int8
