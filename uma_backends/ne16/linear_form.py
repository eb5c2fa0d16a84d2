"""One row times a matrix in linear mode, which takes 256 inputs a step where the 1x1 mode takes 16 of each pixel."""

from dataclasses import dataclass

import numpy as np

from uma_backends.conv_array import RowForm
from uma_backends.ne16.geometry import INPUT_BYTES, subtiles


@dataclass(frozen=True)
class LinearForm(RowForm):
    """Inputs come in words of sixteen; what the last word has behind the row is multiplied by zero."""

    @property
    def pixel_channels(self) -> int:
        return INPUT_BYTES * subtiles(self.layer.inputs[0].spec.shape[-1], INPUT_BYTES)

    def filters(self) -> np.ndarray:
        matrix = self.arithmetic.weights.reshape(len(self.arithmetic.weights), -1)
        return np.pad(matrix, ((0, 0), (0, self.pixel_channels - matrix.shape[1])))[:, :, None, None]
