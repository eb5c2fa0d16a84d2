"""Any dense convolution as a matrix product: the cores copy the pixels under the kernel side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uma_backends.neureka.lowering.convolution import Convolution
from uma_backends.neureka.lowering.form import DEFAULT_COSTS, Costs, Form, IntArray
from uma_backends.neureka.lowering.gemm import fold


@dataclass(frozen=True)
class Im2col(Form):
    """Cores write [output pixels x kernel x channels], the engine multiplies; any kernel, stride and padding."""

    name: ClassVar[str] = "im2col"

    @classmethod
    def offer(cls, convolution: Convolution, costs: Costs = DEFAULT_COSTS) -> Im2col | None:
        """Apply to every dense convolution that is not a plain matrix product already."""
        plain = convolution.kernel == (1, 1) and convolution.stride == (1, 1) and not convolution.has_padding
        if convolution.depthwise or plain:
            return None
        height, width = convolution.kernel
        return fold(cls, convolution, costs, height * width * convolution.input_channels)

    @property
    def prepared_bytes(self) -> int:
        """The copied patches."""
        layer = self.convolution
        return layer.output_height * layer.output_width * self.steps[0].job.input_channels

    def prepare(self, data: IntArray) -> IntArray:
        """Copy, for every output pixel, its window in the order row, column, channel."""
        layer, pad = self.convolution, self.convolution.padding
        padded = np.pad(data, ((pad.top, pad.bottom), (pad.left, pad.right), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, layer.kernel, axis=(0, 1))
        kept = windows[:: layer.stride[0], :: layer.stride[1]][: layer.output_height, : layer.output_width]
        return kept.transpose(0, 1, 3, 4, 2).reshape(-1)

    def step_weights(self, weight: IntArray) -> tuple[IntArray, ...]:
        """Order the weights like the patches."""
        flat = weight.transpose(0, 2, 3, 1).reshape(weight.shape[0], -1, 1, 1)
        return (flat,) * len(self.steps)
