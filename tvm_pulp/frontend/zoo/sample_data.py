"""Seeded inputs that look like data: fields with structure at several sizes, not white noise.

White noise would make every picture look the same after average pooling, and all classes equal. Everything is integer
arithmetic, because calibration reads these values and models must come out the same byte for byte.
"""

import numpy as np

from tvm_pulp.frontend.zoo.random_stream import RandomStream

_ONE = 64


def _interpolation(size: int, knots: int) -> np.ndarray:
    """Matrix [size, knots] of linear interpolation weights, each row summing to 64."""
    matrix = np.zeros((size, knots), np.int64)
    for i in range(size):
        position = i * (knots - 1) * _ONE // max(size - 1, 1)
        left = min(position // _ONE, knots - 2)
        matrix[i, left + 1] = position - left * _ONE
        matrix[i, left] = _ONE - matrix[i, left + 1]
    return matrix


def smooth_field(stream: RandomStream, channels: int, height: int, width: int) -> np.ndarray:
    """Values 0..255 of shape [channels, height, width]: coarse shapes, finer ones, and a little noise."""
    total = stream.integers(-12, 12, channels, height, width)
    for knots, amplitude in ((2, 50), (4, 60), (9, 35)):
        grid = stream.integers(-amplitude, amplitude, channels, knots, knots)
        rows, columns = _interpolation(height, knots), _interpolation(width, knots)
        # Integer operands: numpy multiplies them itself, exactly.
        total = total + (rows @ grid @ columns.T) // (_ONE * _ONE)
    brightness = stream.integers(104, 152, channels, 1, 1)
    return np.clip(total + brightness, 0, 255)


def image(stream: RandomStream, channels: int, height: int, width: int) -> np.ndarray:
    """A picture [1, channels, height, width], uint8."""
    return smooth_field(stream, channels, height, width)[None].astype(np.uint8)


def spectrogram(stream: RandomStream, frames: int, bins: int) -> np.ndarray:
    """A spectrogram [1, 1, frames, bins], int8."""
    return (smooth_field(stream, 1, frames, bins)[None] - 128).astype(np.int8)


def hidden_state(stream: RandomStream, *shape: int) -> np.ndarray:
    """Activations of a transformer, int8, normally distributed."""
    return np.clip(np.rint(stream.normal(*shape) * 40), -128, 127).astype(np.int8)
