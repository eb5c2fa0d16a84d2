"""A strided 3x3 convolution as the stride-1 one, of which most pixels are thrown away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import ArrayJob, Padding
from uma_backends.neureka.lowering.convolution import Convolution, input_span
from uma_backends.neureka.lowering.direct import mode_of
from uma_backends.neureka.lowering.form import DEFAULT_COSTS, Costs, Form, IntArray, Step, output_type


@dataclass(frozen=True)
class Discard(Form):
    """One stride-1 job into a scratch buffer, then a copy of the pixels that count."""

    name: ClassVar[str] = "discard"

    @classmethod
    def offer(cls, convolution: Convolution, costs: Costs = DEFAULT_COSTS) -> Discard | None:
        """Apply to strided 3x3 convolutions, dense and depthwise."""
        mode = mode_of(convolution)
        if mode is None or mode is Mode.POINTWISE or convolution.stride == (1, 1):
            return None
        pad = convolution.padding
        rows = (convolution.output_height - 1) * convolution.stride[0] + 1
        columns = (convolution.output_width - 1) * convolution.stride[1] + 1
        # Rows and columns behind the last pixel that counts are neither computed nor padded.
        bottom = input_span(0, rows, convolution.input_height, 3, 1, pad.top).after
        right = input_span(0, columns, convolution.input_width, 3, 1, pad.left).after
        job = ArrayJob(
            mode,
            convolution.input_channels,
            convolution.output_channels,
            rows,
            columns,
            Padding(pad.top, bottom, pad.left, right),
            weight_bits=convolution.weight_bits,
            weight_offset=convolution.weight_offset,
            input_signed=convolution.input_signed,
            output_bits=convolution.output_bits,
            requantization=convolution.requantization,
            weight_memory=convolution.weight_memory,
            prefetch=costs.prefetch and convolution.weight_memory and mode is not Mode.DEPTHWISE_3X3,
            input_pixel_stride=convolution.input_channels,
            input_row_stride=convolution.input_width * convolution.input_channels,
        )
        return cls(convolution, costs, (Step(job),))

    @property
    def core_cycles(self) -> int:
        """Cycles of the copy."""
        kept = self.convolution.output_elements * self.steps[0].job.output_bytes
        return round(kept / self.costs.copy_bytes_per_cycle)

    @property
    def scratch_bytes(self) -> int:
        """The stride-1 output."""
        job = self.steps[0].job
        return job.output_height * job.output_width * job.output_channels * job.output_bytes

    def finish(
        self, buffer: NDArray[np.uint8], scale: IntArray | None, bias: IntArray | None, shift: IntArray | None
    ) -> IntArray:
        """Keep every pixel the stride lands on."""
        job = self.steps[0].job
        tensor = buffer.view(output_type(job)).reshape(job.output_height, job.output_width, job.output_channels)
        return tensor[:: self.convolution.stride[0], :: self.convolution.stride[1]]
