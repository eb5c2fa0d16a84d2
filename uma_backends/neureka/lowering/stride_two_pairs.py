"""A 3x3 convolution of stride 2 as two stride-1 jobs at quarter resolution.

Two neighbouring pixels are read as one of twice the channels. Even and odd rows are separate images: the first job
takes the even rows and kernel row 1, the second one adds the odd rows with kernel rows 0 and 2. Pays for few channels
only, because the zero taps cost as much as the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import MAX_PADDING, ArrayJob, Padding
from uma_backends.neureka.lowering.convolution import Convolution
from uma_backends.neureka.lowering.form import DEFAULT_COSTS, Costs, Form, IntArray, Step


@dataclass(frozen=True)
class StrideTwoPairs(Form):
    """Two jobs chained through stream-in; the cores requantize."""

    name: ClassVar[str] = "stride-two-pairs"

    @classmethod
    def offer(cls, convolution: Convolution, costs: Costs = DEFAULT_COSTS) -> StrideTwoPairs | None:
        """Apply to 3x3 with stride 2 on whole rows of even width; a tile may begin inside the layer."""
        pad, channels, width = convolution.padding, convolution.input_channels, convolution.input_width
        if (
            (convolution.kernel, convolution.stride, convolution.depthwise) != ((3, 3), (2, 2), False)
            or pad.top > 1
            or pad.left != 1
            or width % 2
            or convolution.input_height < 2
            or not -(1 << convolution.weight_bits) < convolution.weight_offset <= 0
        ):
            return None
        right = max(0, convolution.output_width + 1 - width // 2)
        steps = []
        for odd in (False, True):
            # Without top padding the first row present is an odd one.
            first = int(odd) if pad.top else int(not odd)
            rows = (convolution.input_height + 1 - first) // 2
            top = 0 if odd and not pad.top else 1
            bottom = max(0, convolution.output_height + 2 - top - rows)
            if max(bottom, right) > MAX_PADDING:
                return None
            job = ArrayJob(
                Mode.DENSE_3X3,
                2 * channels,
                convolution.output_channels,
                convolution.output_height,
                convolution.output_width,
                Padding(top, bottom, 1, right),
                weight_bits=convolution.weight_bits,
                weight_offset=convolution.weight_offset,
                input_signed=convolution.input_signed,
                output_bits=32,
                requantization=None,
                stream_in=odd,
                weight_memory=convolution.weight_memory,
                prefetch=costs.prefetch and convolution.weight_memory,
                input_pixel_stride=2 * channels,
                input_row_stride=2 * width * channels,
            )
            steps.append(Step(job, input_offset=first * width * channels))
        return cls(convolution, costs, tuple(steps))

    def step_weights(self, weight: IntArray) -> tuple[IntArray, ...]:
        """Spread the nine taps over two kernels of twice the channels; all other taps are zero."""
        channels = self.convolution.input_channels
        even = np.zeros((weight.shape[0], 2 * channels, 3, 3), weight.dtype)
        odd = np.zeros_like(even)
        for kernel, row, original in ((even, 1, 1), (odd, 0, 0), (odd, 1, 2)):
            kernel[:, channels:, row, 0] = weight[:, :, original, 0]
            kernel[:, :channels, row, 1] = weight[:, :, original, 1]
            kernel[:, channels:, row, 1] = weight[:, :, original, 2]
        return even, odd
