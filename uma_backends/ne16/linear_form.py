"""One row times a matrix in linear mode, which takes 256 inputs a step where the 1x1 mode takes 16 of each pixel."""

from dataclasses import dataclass

import numpy as np

from tvm_pulp.planning.tiling.forms.conv_array import ACTIVATION_SLACK, ArrayForm, channel_axis
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Local, Recipe, TileAxis
from uma_backends.ne16.geometry import INPUT_BYTES, subtiles


@dataclass(frozen=True)
class LinearForm(ArrayForm):
    """Inputs come in words of sixteen; what the last word has behind the row is multiplied by zero."""

    @property
    def _channels(self) -> int:
        return INPUT_BYTES * subtiles(self.layer.inputs[0].spec.shape[-1], INPUT_BYTES)

    def filters(self) -> np.ndarray:
        matrix = self.arithmetic.weights.reshape(len(self.arithmetic.weights), -1)
        return np.pad(matrix, ((0, 0), (0, self._channels - matrix.shape[1])))[:, :, None, None]

    def axes(self) -> tuple[TileAxis, ...]:
        return (channel_axis(self, len(self.layer.outputs[0].spec.shape) - 1),)

    def recipe(self, box: Box) -> Recipe:
        before, source = self.source(Box.whole(self.layer.inputs[0].spec.shape), ACTIVATION_SLACK)
        raw = Local("raw", TensorSpec(box.size, self.raw_dtype))
        job = self.array_job(1, 1, self._channels, box.size[-1])
        loads, step = self.job_steps(job, box.start[-1], source, raw)
        return self.assemble([*before, *loads], step, raw, box)
