"""Any kernel and stride as one 1x1 job per kernel row, without im2col.

In an HWC row the pixels under one kernel row are neighbours: read as one pixel of `kernel width x channels` channels,
with a pixel stride that overlaps, a kernel row is a 1x1 convolution. The rows add up through stream-in. Only the border
must exist in memory.

The address generator has no rule against a pixel stride below the channel count, but no published program uses one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import ArrayJob
from uma_backends.neureka.lowering.convolution import Convolution
from uma_backends.neureka.lowering.form import DEFAULT_COSTS, Costs, Form, IntArray, Step


@dataclass(frozen=True)
class KernelRows(Form):
    """One job per kernel row; the cores write the padded tensor before and requantize after."""

    name: ClassVar[str] = "kernel-rows"

    @classmethod
    def offer(cls, convolution: Convolution, costs: Costs = DEFAULT_COSTS) -> KernelRows | None:
        """Apply to every dense kernel larger than one pixel."""
        if convolution.depthwise or convolution.kernel == (1, 1):
            return None
        pad, channels = convolution.padding, convolution.input_channels
        (height, width), (down, right) = convolution.kernel, convolution.stride
        row_bytes = (convolution.input_width + pad.left + pad.right) * channels
        single = height == 1
        steps = tuple(
            Step(
                ArrayJob(
                    Mode.POINTWISE,
                    width * channels,
                    convolution.output_channels,
                    convolution.output_height,
                    convolution.output_width,
                    weight_bits=convolution.weight_bits,
                    weight_offset=convolution.weight_offset,
                    input_signed=convolution.input_signed,
                    output_bits=convolution.output_bits if single else 32,
                    requantization=convolution.requantization if single else None,
                    stream_in=row > 0,
                    weight_memory=convolution.weight_memory,
                    prefetch=costs.prefetch and convolution.weight_memory,
                    input_pixel_stride=right * channels,
                    input_row_stride=down * row_bytes,
                ),
                input_offset=row * row_bytes,
            )
            for row in range(height)
        )
        return cls(convolution, costs, steps)

    @property
    def prepared_bytes(self) -> int:
        """The padded tensor, if there is padding."""
        layer, pad = self.convolution, self.convolution.padding
        if not layer.has_padding:
            return 0
        rows, columns = layer.input_height + pad.top + pad.bottom, layer.input_width + pad.left + pad.right
        return rows * columns * layer.input_channels

    def prepare(self, data: IntArray) -> IntArray:
        """Write the border into memory."""
        pad = self.convolution.padding
        return np.pad(data, ((pad.top, pad.bottom), (pad.left, pad.right), (0, 0))).reshape(-1)

    def step_weights(self, weight: IntArray) -> tuple[IntArray, ...]:
        """Turn each kernel row into a 1x1 kernel, column by column and channel by channel."""
        rows = weight.transpose(2, 0, 3, 1).reshape(weight.shape[2], weight.shape[0], -1, 1, 1)
        return tuple(rows)
