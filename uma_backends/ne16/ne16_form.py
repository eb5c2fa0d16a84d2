"""The array of NE16 as forms see it: its sizes, jobs, packed weights and registers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from uma_backends.conv_array import ArrayContext, ArrayDescription
from uma_backends.ne16.geometry import INPUT_BYTES, OUTPUT_CHANNELS, PATCH, Mode
from uma_backends.ne16.job import Ne16Job
from uma_backends.ne16.packing import pack_weights
from uma_backends.ne16.registers import WORD_NAMES, Addresses, register_image
from uma_backends.ne16.timing import DEFAULT_TIMING, Ne16Timing, job_cycles

ENGINE = "ne16"


class Ne16JobDescription(ArrayDescription):
    """A job and its registers."""

    @cached_property
    def words(self) -> tuple[int, ...]:
        return register_image(self.job, Addresses(0, 0, 0))


@dataclass(frozen=True)
class Ne16Context(ArrayContext):
    """The options of a compilation, and NE16's array."""

    engine: ClassVar[str] = ENGINE
    job_words: ClassVar[int] = len(WORD_NAMES)
    scale_bits: ClassVar[tuple[int, ...]] = (8, 16, 32)
    rows: ClassVar[int] = PATCH
    columns: ClassVar[int] = PATCH
    output_channels: ClassVar[int] = OUTPUT_CHANNELS
    depthwise_channels: ClassVar[int] = INPUT_BYTES
    row_step: ClassVar[int] = PATCH**2

    timing: Ne16Timing = DEFAULT_TIMING

    def pack(self, filters: np.ndarray, mode: Mode, weight_bits: int, offset: int) -> np.ndarray:
        return pack_weights(filters, mode, weight_bits, offset)

    def job(self, mode: Mode, shape: tuple[int, int, int, int], input_signed: bool, **how: Any) -> Ne16Job:
        assert not input_signed, "the array has no signed input"
        height, width, depth, channels = shape
        return Ne16Job(mode, depth, channels, height, width, **how)

    def cycles(self, job: Any) -> int:
        return job_cycles(job, self.timing)

    def describe(self, job: Any, *operands: Any) -> Ne16JobDescription:
        return Ne16JobDescription(job, *operands)
