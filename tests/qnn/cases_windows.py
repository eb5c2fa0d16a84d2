"""Random calls of the operators that slide a window: convolution, pooling, im2col."""

from typing import Any

import numpy as np

from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, byte_type, integers, magnitude, pick, requant, zero_point


def window(rng: Rng, largest_pad: int | None = None) -> tuple[dict[str, Any], tuple[int, int], tuple[int, int]]:
    """Window attributes, kernel and an input size that has room for at least one position."""
    kernel = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    strides, dilation = [[int(v) for v in rng.integers(1, 4, 2)] for _ in range(2)]
    pads = [int(p) for p in rng.integers(0, 4, 4)] if rng.random() < 0.7 else [0, 0, 0, 0]
    if largest_pad is not None:
        pads = [min(p, largest_pad) for p in pads]
    needed = [d * (k - 1) + 1 - pads[i] - pads[i + 2] for i, (k, d) in enumerate(zip(kernel, dilation, strict=True))]
    size = [max(1, n) + int(rng.integers(0, 6)) for n in needed]
    return {"strides": strides, "dilation": dilation, "pads": pads}, kernel, (size[0], size[1])


def conv2d(rng: Rng) -> Case:
    attributes, kernel, size = window(rng)
    groups, per_group = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    outputs = groups * int(rng.integers(1, 4))
    x = integers(rng, (int(rng.integers(1, 3)), *size, groups * per_group), byte_type(rng))
    weight = integers(rng, (outputs, *kernel, per_group), str(pick(rng, ("int8", "int8", "uint8", "int16"))))
    zero = zero_point(rng, str(x.dtype))
    bias = [rng.integers(-(1 << 20), 1 << 20, outputs).astype(np.int32)] if rng.random() < 0.5 else []
    weights = np.abs(weight.astype(np.int64)).reshape(outputs, -1).sum(axis=1)
    bound = int(weights.max()) * magnitude(x, zero) + (1 << 20)
    rule, tensors = requant(rng, bound, outputs)
    attributes |= {"layout": "NHWC", "groups": groups, "zero_point": zero, "has_bias": len(bias), **rule.attributes()}
    return Case("conv2d", attributes, [x, weight, *bias, *tensors])


def im2col(rng: Rng) -> Case:
    attributes, kernel, size = window(rng)
    x = integers(rng, (int(rng.integers(1, 3)), *size, int(rng.integers(1, 5))), byte_type(rng))
    return Case("im2col", {**attributes, "kernel": list(kernel), "zero_point": zero_point(rng, str(x.dtype))}, [x])


def max_pool(rng: Rng) -> Case:
    attributes, kernel, size = window(rng)
    dtype = str(pick(rng, ("int8", "uint8", "int16", "int32")))
    x = integers(rng, (int(rng.integers(1, 3)), *size, int(rng.integers(1, 5))), dtype)
    return Case("max_pool", {**attributes, "kernel": list(kernel), "layout": "NHWC"}, [x])


def avg_pool(rng: Rng) -> Case:
    # Every window must hold at least one value: padding smaller than the kernel, nothing between the taps.
    kernel = [int(rng.integers(1, 5)), int(rng.integers(1, 5))]
    pads = [int(rng.integers(0, kernel[i % 2])) for i in range(4)]
    size = [max(1, kernel[i] - pads[i]) + int(rng.integers(0, 6)) for i in range(2)]
    strides = [int(v) for v in rng.integers(1, 4, 2)]
    x = integers(rng, (int(rng.integers(1, 3)), *size, int(rng.integers(1, 5))), byte_type(rng))
    attributes = {"kernel": kernel, "layout": "NHWC", "strides": strides, "dilation": [1, 1], "pads": pads}
    if rng.random() < 0.4:
        low, high = (-100, 90) if rng.random() < 0.5 else (-128, 127)
        low, high = (low, high) if x.dtype == np.int8 else (low + 128, high + 128)
        return Case("avg_pool", {**attributes, "requant": "none", "low": low, "high": high}, [x])
    zero = zero_point(rng, str(x.dtype))
    # One constant per number of values in a window, 0 to all of them.
    rule, tensors = requant(rng, magnitude(x, zero) * kernel[0] * kernel[1], kernel[0] * kernel[1] + 1, "half_even")
    return Case("avg_pool", {**attributes, **rule.attributes(), "zero_point": zero}, [x, *tensors])


CASES = {"conv2d": conv2d, "im2col": im2col, "max_pool": max_pool, "avg_pool": avg_pool}
