"""Weights that a model left float beside a quantized input: 16 bits of them, as two layers of 8-bit weights.

PyTorch's quantizers have no rule for transposed convolutions, for instance: quantized pictures go in, the weights are
float, or have a scale for every input where a sum of integers needs one for every output. 16 bits and a scale per
output channel lose less than rounding the result to 8 bits can notice; sums of integers are exact, and engines for
8-bit weights run both halves.

    conv2d(dequantize(x), w)   becomes   conv2d(x, upper bytes of w) * 256 + conv2d(x, lower bytes of w)
"""

from typing import Any

import numpy as np

from tvm_pulp.canonicalize.qdq_rewriter import QdqRewriter, QuantizedConstant
from tvm_pulp.canonicalize.rewriter import or_none, require

# The largest weight; its upper byte is 127 after rounding.
_LARGEST = 127 * 256 + 127
# Scales outside are no ordinary numbers any more once they meet the input's.
_LEAST_SCALE, _LARGEST_SCALE = 2.0**-60, 2.0**60
# Error of a result over its size, both root mean squares: an 8-bit result of usual spread then changes by one in two
# of a thousand places.
_LARGEST_ERROR = 5e-5


def weights(fold: QdqRewriter, expression: Any, axis: int) -> QuantizedConstant | None:
    """The integers behind a layer's weights, else 16 bits of the floats; `axis` is that of the output channels."""
    held = fold.quantized_constant(expression)
    if fold.arithmetic.name != "onnx" or (held is not None and _has_channels(held, axis)):
        return held
    real = fold.real_constant(expression)
    found = None if real is None or real.dtype != np.float32 else near(real, axis)
    return held if found is None else found


def _has_channels(held: QuantizedConstant, axis: int) -> bool:
    """Tell if an output channel has one scale. PyTorch scales transposed kernels by their first axis: the inputs."""
    return held.rearranged(lambda array: np.moveaxis(array, axis, 0)).channel_scales() is not None


@or_none
def near(real: np.ndarray, axis: int) -> QuantizedConstant:
    """Weights in 16 bits, one scale per entry of an axis; None where that loses too much."""
    require(real.size and np.isfinite(real).all())
    others = tuple(a for a in range(real.ndim) if a != axis)
    largest = np.abs(real.astype(np.float64)).max(axis=others, keepdims=True)
    scale = np.where(largest > 0, largest / _LARGEST, 1).astype(np.float32)
    require(scale.min() >= _LEAST_SCALE and scale.max() <= _LARGEST_SCALE)
    values = np.clip(np.rint(real / scale), -_LARGEST, _LARGEST).astype(np.int16)
    size = np.sqrt((real.astype(np.float64) ** 2).mean(axis=others, keepdims=True))
    require(not (scale / np.sqrt(12) > _LARGEST_ERROR * size)[largest > 0].any())
    scales, zeros = (np.broadcast_to(v, real.shape) for v in (scale, np.int64(0)))
    return QuantizedConstant(values, scales, zeros, is_near=True)


def halves(held: QuantizedConstant) -> tuple[QuantizedConstant, QuantizedConstant]:
    """Upper and lower bytes, both signed: the weights are 256 times the first and once the second."""
    upper = held.values.astype(np.int32) + 128 >> 8
    lower = held.values.astype(np.int32) - 256 * upper
    return (
        QuantizedConstant(upper.astype(np.int8), held.scale * np.float32(256), held.zero_point),
        QuantizedConstant(lower.astype(np.int8), held.scale, held.zero_point),
    )
