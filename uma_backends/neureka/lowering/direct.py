"""The convolutions the array is made for: 3x3 and depthwise 3x3 with stride 1, and 1x1 with any stride."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import MAX_PADDING, ArrayJob
from uma_backends.neureka.lowering.convolution import Convolution
from uma_backends.neureka.lowering.form import DEFAULT_COSTS, Costs, Form, Step


def mode_of(convolution: Convolution) -> Mode | None:
    """Return the array's mode for this kernel, whatever its stride, or None."""
    pad = convolution.padding
    if convolution.kernel == (1, 1) and not convolution.depthwise and not convolution.has_padding:
        return Mode.POINTWISE
    if convolution.kernel == (3, 3) and max(pad.top, pad.bottom, pad.left, pad.right) <= MAX_PADDING:
        return Mode.DEPTHWISE_3X3 if convolution.depthwise else Mode.DENSE_3X3
    return None


@dataclass(frozen=True)
class Direct(Form):
    """One job. A strided 1x1 convolution skips pixels through the input strides."""

    name: ClassVar[str] = "direct"

    @classmethod
    def offer(cls, convolution: Convolution, costs: Costs = DEFAULT_COSTS) -> Direct | None:
        """Apply to every kernel of the array; 3x3 with stride 1 only."""
        mode = mode_of(convolution)
        if mode is None or (mode is not Mode.POINTWISE and convolution.stride != (1, 1)):
            return None
        down, right = convolution.stride
        job = ArrayJob(
            mode,
            convolution.input_channels,
            convolution.output_channels,
            convolution.output_height,
            convolution.output_width,
            convolution.padding,
            weight_bits=convolution.weight_bits,
            weight_offset=convolution.weight_offset,
            input_signed=convolution.input_signed,
            output_bits=convolution.output_bits,
            requantization=convolution.requantization,
            weight_memory=convolution.weight_memory,
            prefetch=costs.prefetch and convolution.weight_memory and mode is not Mode.DEPTHWISE_3X3,
            input_pixel_stride=right * convolution.input_channels,
            input_row_stride=down * convolution.input_width * convolution.input_channels,
        )
        return cls(convolution, costs, (Step(job),))
