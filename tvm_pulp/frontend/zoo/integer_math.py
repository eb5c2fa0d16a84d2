"""The dialect's operators in numpy, for calibration while a model is built.

Independent of the compiler's references on purpose: the tests compare the two. Matrix products run in floating point,
where sums of integers below 2^24 or 2^53 are exact in any order: the fast library routines then give the same result
everywhere.
"""

import math
from collections.abc import Sequence

import numpy as np


def _exact_type(x: np.ndarray, weight: np.ndarray) -> type[np.floating]:
    """Narrowest floating type that holds every partial sum of the product exactly; output channels come first."""
    largest = int(np.abs(x).max(initial=0)) * int(np.abs(weight).reshape(weight.shape[0], -1).sum(axis=1).max())
    return np.float32 if largest < 1 << 24 else np.float64


def convolve(x: np.ndarray, weight: np.ndarray, strides: Sequence[int], pads: Sequence[int], groups: int) -> np.ndarray:
    """Convolution, NCHW and OIHW; `groups` is 1 or the number of channels."""
    return convolve_as(_exact_type(x, weight), x, weight, strides, pads, groups).astype(np.int64)


def convolve_as(
    kind: type[np.floating], x: np.ndarray, weight: np.ndarray, strides: Sequence[int], pads: Sequence[int], groups: int
) -> np.ndarray:
    """The same with sums of a type."""
    (sh, sw), (top, left, bottom, right) = strides, pads
    channels, _, kh, kw = weight.shape
    padded = np.pad(x.astype(kind), ((0, 0), (0, 0), (top, bottom), (left, right)))
    oh, ow = (padded.shape[2] - kh) // sh + 1, (padded.shape[3] - kw) // sw + 1
    taps = weight.astype(kind)
    total = np.zeros((len(x), channels, oh, ow), kind)
    for ky in range(kh):
        for kx in range(kw):
            window = padded[:, :, ky : ky + (oh - 1) * sh + 1 : sh, kx : kx + (ow - 1) * sw + 1 : sw]
            if groups == 1:
                # A product per picture: libraries spread larger ones over threads, which wait longer than they work.
                total += np.matmul(taps[:, :, ky, kx], window.reshape(*window.shape[:2], -1)).reshape(total.shape)
            else:
                total += window * taps[:, 0, ky, kx][:, None, None]
    return total


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Exact product of two integer matrices, with broadcasting."""
    return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64))).astype(np.int64)


def requantize(x: np.ndarray, mul: np.ndarray, add: np.ndarray, shift: int, signed: bool) -> np.ndarray:
    """RequantShift to 256 levels; `mul` and `add` broadcast as numpy does."""
    low, high = (-128, 127) if signed else (0, 255)
    return np.clip((x * mul + add + ((1 << shift) >> 1)) >> shift, low, high)


def mean(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Integer mean, rounded half up."""
    count = math.prod(x.shape[a] for a in axes)
    return np.asarray((x.sum(axis=axes) + count // 2) // count)


def truncate_divide(a: np.ndarray, b: np.ndarray | int) -> np.ndarray:
    """Quotient toward zero, for a positive divisor."""
    return np.asarray(np.sign(a) * (np.abs(a) // b))


def integer_root(x: np.ndarray) -> np.ndarray:
    """Floor of the square root; exact, because the arguments are far below 2^52."""
    return np.floor(np.sqrt(x.astype(np.float64))).astype(np.int64)


def rms_norm(x: np.ndarray, weight: np.ndarray, shift: int) -> np.ndarray:
    """iRMSNorm to int8."""
    root = integer_root((x * x).sum(-1, keepdims=True) // x.shape[-1] + 1)
    return np.clip(truncate_divide(x * weight, root) >> shift, -128, 127)


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, shift: int) -> np.ndarray:
    """iLayerNorm to int8."""
    count = x.shape[-1]
    centred = x - truncate_divide(x.sum(-1, keepdims=True), count)
    root = integer_root((centred * centred).sum(-1, keepdims=True) // count + 1)
    return np.clip((truncate_divide(centred * weight, root) + bias) >> shift, -128, 127)


def softmax(x: np.ndarray, b: int, c: int, log2: int) -> np.ndarray:
    """iSoftmax with coefficient A = 1, to 0..255."""
    difference = x - x.max(-1, keepdims=True)
    halvings = np.minimum(-difference // log2, 31)
    exponential = ((difference + halvings * log2 + b) ** 2 + c) >> halvings
    return np.asarray(exponential * 255 // exponential.sum(-1, keepdims=True))


def gelu(x: np.ndarray, b: int, one: int) -> np.ndarray:
    """iGELU before its RequantShift."""
    distance = np.minimum(np.abs(x), -b) + b
    return np.asarray(x * ((one + np.sign(x) * (one - distance * distance)) >> 1))


def hardswish(x: np.ndarray, one_over_six: int, three: int, six: int) -> np.ndarray:
    """iHardswish before its RequantShift."""
    return np.asarray(x * np.clip(x + three, 0, six) * one_over_six)
