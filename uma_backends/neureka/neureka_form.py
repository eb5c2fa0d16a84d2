"""The array of NEUREKA as forms see it: its sizes, jobs, packed weights and registers."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from uma_backends.conv_array import (
    ACTIVATION_SLACK,
    CONTEXTS,
    ArrayContext,
    ArrayDescription,
)
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode
from uma_backends.neureka.job import NeurekaJob
from uma_backends.neureka.packing import pack_weights
from uma_backends.neureka.registers import Addresses, register_image
from uma_backends.neureka.timing import DEFAULT_TIMING, NeurekaTiming, job_cycles, port_cycles

__all__ = [
    "ACTIVATION_SLACK",
    "CONTEXTS",
    "ENGINE",
    "JOB_WORDS",
    "WEIGHT_LEVELS",
    "NeurekaContext",
    "NeurekaJobDescription",
]

ENGINE = "neureka"
# The driver's job structure: six pointers, the address of the shape, the shape's 18 words.
JOB_WORDS = 25
# Where packed weights live, by the option that says so.
WEIGHT_LEVELS = {"none": "l2", "sram": "weight_sram", "mram": "weight_mram"}


@dataclass(frozen=True)
class NeurekaJobDescription(ArrayDescription):
    """A job with the array it is for."""

    array: Geometry = SIRACUSA

    @cached_property
    def words(self) -> tuple[int, ...]:
        return register_image(self.job, Addresses(0, 0, 0), self.array)


@dataclass(frozen=True)
class NeurekaContext(ArrayContext):
    """The options of a compilation, and NEUREKA's array."""

    engine: ClassVar[str] = ENGINE
    job_words: ClassVar[int] = JOB_WORDS
    has_bounds: ClassVar[bool] = True

    weight_memory: str = "none"
    timing: NeurekaTiming = DEFAULT_TIMING
    prefetch: bool = True
    # Whether one row times a matrix may run as a 3x3 convolution.
    rows_as_3x3: bool = True

    @property
    def rows(self) -> int:
        return self.timing.geometry.pe_rows

    @property
    def columns(self) -> int:
        return self.timing.geometry.pe_columns

    @property
    def output_channels(self) -> int:
        return self.timing.geometry.output_channels

    @property
    def depthwise_channels(self) -> int:
        return self.timing.geometry.channels_3x3

    @property
    def weight_level(self) -> str:
        return WEIGHT_LEVELS[self.weight_memory]

    @property
    def weights_in_l1(self) -> bool:
        return self.weight_memory == "none"

    def plane_bits(self, mode: Mode, weight_bits: int) -> int:
        return 8 if mode is Mode.POINTWISE else weight_bits

    def pack(self, filters: np.ndarray, mode: Mode, weight_bits: int, offset: int) -> np.ndarray:
        return pack_weights(filters, mode, weight_bits, offset, self.timing.geometry)

    def job(self, mode: Mode, shape: tuple[int, int, int, int], input_signed: bool, **how: Any) -> NeurekaJob:
        height, width, depth, channels = shape
        memory = not self.weights_in_l1
        prefetch = self.prefetch and memory and mode is not Mode.DEPTHWISE_3X3
        sizes = (depth, channels, height, width)
        return NeurekaJob(mode, *sizes, input_signed=input_signed, weight_memory=memory, prefetch=prefetch, **how)

    def cycles(self, job: Any) -> int:
        return job_cycles(job, self.timing)

    def port_cycles(self, job: Any) -> int:
        return port_cycles(job, self.timing)

    def describe(self, job: Any, *operands: Any) -> NeurekaJobDescription:
        return replace(NeurekaJobDescription(job, *operands), array=self.timing.geometry)
