"""Random sizes of calls, and random calls of the kernels of products and convolutions."""

from typing import Any

import numpy as np

from tests.kernels.long_dense_case import long_dense_case
from tests.kernels.matrix_cases import (
    Case,
    Window,
    conv2d_case,
    dense_case,
    depthwise_case,
    matmul_case,
    nibble_dense_case,
    small_depthwise_case,
)
from tests.kernels.random_requant import KINDS, rule_of_halves


class Shapes:
    """Random sizes, denser at the small end."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def size(self, low: int, high: int, multiple: int = 1) -> int:
        value = round(float(np.exp(self.rng.uniform(np.log(low), np.log(high + 1)))))
        return max(multiple, value // multiple * multiple)

    def pick(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def flag(self) -> bool:
        return bool(self.rng.integers(2))

    def kind(self) -> str:
        """The narrow form and TFLite's more often than the others."""
        return str(self.pick(*["pulp"] * 5, *["tflite"] * 3, *KINDS))

    def offset(self) -> int:
        """What weights lie above int8: usually nothing."""
        return int(self.pick(0, 0, 0, 0, 9))


def dense(s: Shapes) -> Case:
    columns = s.pick(s.size(1, 3), *[s.size(4, 128)] * 7)
    rows, depth = s.pick(1, s.size(1, 64)), s.size(4, 256, s.pick(1, 4, 4))
    if s.rng.random() < 0.2:
        return dense_of_halves(s, rows, max(4, columns), depth)
    return dense_case(s.rng, rows, columns, depth, s.kind(), per_channel=s.flag(), offset=s.offset())


def dense_of_halves(s: Shapes, rows: int, columns: int, depth: int) -> Case:
    """16-bit activations; most results have 16 bits too."""
    rule = None
    if s.rng.random() < 0.7:
        rule = rule_of_halves(s.rng, s.pick("half_up", "half_up", "half_even"), depth << 22, columns, "int16")
    return dense_case(s.rng, rows, columns, depth, s.kind(), dtype="int16", rule=rule)


def long_dense(s: Shapes) -> Case:
    return long_dense_case(s.rng, s.size(1, 64), s.size(2, 64), 2 * s.size(8, 300), 2 * s.size(16, 250))


def nibble_dense(s: Shapes) -> Case:
    columns, depth = s.size(4, 512, 4), s.size(16, 512, 4)
    return nibble_dense_case(s.rng, columns, depth, per_channel=s.flag(), without_bias=s.flag())


def matmul(s: Shapes) -> Case:
    batch, rows, columns, depth = s.size(1, 4), s.size(1, 64), s.size(4, 64), s.size(4, 128, s.pick(1, 4))
    types = ("int8", "uint8" if s.rng.random() < 0.2 else "int8")
    kind, transposed, zeros = s.kind(), s.flag(), (s.pick(0, 3), s.pick(0, 0, -7))
    return matmul_case(s.rng, batch, rows, columns, depth, kind, types=types, transpose_b=transposed, zero_points=zeros)


def conv2d(s: Shapes) -> Case:
    channels, out_channels = s.size(3, 48, s.pick(1, 4, 4)), s.pick(s.size(1, 3), *[s.size(4, 48)] * 7)
    window = s.pick(Window(), Window(), Window((1, 1), pads=(0, 0, 0, 0)), Window((3, 3), (2, 2)), Window((5, 3)))
    if s.rng.random() < 0.15:
        window = s.pick(Window(dilation=(2, 2), pads=(2, 2, 2, 2)), Window(dilation=(2, 1)), Window(dilation=(1, 2)))
    # A few channels, as an image has, more often than others.
    channels = s.pick(1, 3, 3, *[channels] * 5)
    size, kind = (s.size(5, 20), s.size(5, 20), channels), s.kind()
    return conv2d_case(s.rng, size, out_channels, window, kind, windows=s.pick(4, 8, 12, 16), offset=s.offset())


def depthwise_conv2d(s: Shapes) -> Case:
    channels, height, width = s.pick(2, *[s.size(4, 96, s.pick(1, 4, 4))] * 19), s.size(2, 26), s.size(2, 26)
    five, seven = s.pick((5, 5), (5, 5), (3, 5), (1, 5), (9, 5)), s.pick((7, 7), (7, 7), (1, 7), (6, 6))
    kernel = s.pick((3, 3), (3, 3), (3, 3), five, five, seven, s.pick((1, 9), (3, 12), (5, 1), (1, 1), (4, 4), (2, 2)))
    pads = ((kernel[0] - 1) // 2, (kernel[1] - 1) // 2, kernel[0] // 2, kernel[1] // 2)
    window = Window(kernel, s.pick((1, 1), (1, 1), (2, 2), (1, 2)), pads=pads)
    rows = kernel[0] + window.strides[0] * (s.pick(8, 8, s.size(1, 12)) - 1)
    multiplier = s.pick(1, 1, 1, 2)
    size = (height, width, channels)
    return depthwise_case(s.rng, size, window, s.kind(), plane_rows=rows, multiplier=multiplier)


def small_depthwise(s: Shapes) -> Case:
    size = (
        *s.pick((1, 1), (2, 2), (2, 2), (2, 4), (1, 6), (3, 3), (4, 4), (4, 4), (2, 8)),
        s.pick(2, *[s.size(4, 400)] * 19),
    )
    kernel = s.pick((3, 3), (5, 5), (5, 5), (7, 7))
    pads = (kernel[0] // 2,) * 4
    window = Window(kernel, s.pick((1, 1), (1, 1), (2, 2)), pads=pads)
    return small_depthwise_case(s.rng, size, window, s.kind(), multiplier=s.pick(1, 1, 1, 2))
