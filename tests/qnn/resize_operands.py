"""Random operands of `resize`: images, taps, weights that add up, floats that decide ties."""

from typing import Any

import numpy as np

from tvm_pulp.qnn.fixed_point import single_rounding_multiplier
from tvm_pulp.qnn.requant import Requant

Rng = np.random.Generator


def random_axis(rng: Rng, size: int, result: int, taps: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and weights [result, taps]; neighbours often read the same places."""
    first = np.sort(rng.integers(0, size, result))
    index = np.minimum(first[:, None] + np.arange(taps), size - 1).astype(np.int32)
    weights = rng.integers(0, (1 << bits) + 1, (result, taps)).astype(np.int32)
    weights[:, 1:] //= taps
    if (taps, bits) == (2, 2):
        # Those of doubling, at the border halves.
        weights[:, 1] = np.where(index[:, 0] == index[:, 1], 2, rng.choice([1, 3], result))
    weights[:, 0] = (1 << bits) - weights[:, 1:].sum(axis=1)
    return index, weights


def doubled_axis(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and weights of an axis twice as long: quarters, and halves where both taps are one place."""
    first = (np.arange(2 * size) - 1) // 2
    index = np.stack([np.maximum(first, 0), np.minimum(first + 1, size - 1)], axis=1).astype(np.int32)
    second = np.where(index[:, 0] == index[:, 1], 2, np.where(np.arange(2 * size) % 2, 1, 3)).astype(np.int32)
    return index, np.stack([4 - second, second], axis=1)


def random_resize(
    rng: Rng, size: tuple[int, int, int], result: tuple[int, int], taps: tuple[int, int], bits: tuple[int, int],
    *, middle: int = 0, ties: bool = False, slack: int = 0, dtype: str = "int8", out: str = "int8",
    layout: str = "NHWC", batch: int = 1, alike: bool = False,
) -> tuple[dict[str, Any], list[np.ndarray]]:  # fmt: skip
    """Attributes and operands; `size` is height, width, channels. `alike`: the result has the input's zero point and is
    not limited, as between layers of one scale."""
    height, width, channels = size
    shape = (batch, *size) if layout == "NHWC" else (batch, channels, height, width)
    limits, outs = np.iinfo(dtype), np.iinfo(out)
    x = rng.integers(limits.min, limits.max + 1, shape).astype(dtype)
    if alike and rng.random() < 0.5:
        # Flat parts of an image have no ties.
        x = np.broadcast_to(x[:, :1, :1] if layout == "NHWC" else x[:, :, :1, :1], shape).copy()
    (rows, down), (columns, across) = (
        random_axis(rng, *each) for each in zip((height, width), result, taps, bits, strict=True)
    )
    if alike and (taps, bits, result) == ((2, 2), (2, 2), (2 * height, 2 * width)):
        (rows, down), (columns, across) = doubled_axis(height), doubled_axis(width)
    if taps == (1, 1):
        return {"layout": layout, "taps": [1, 1]}, [x, rows, columns]
    fraction = sum(bits) - middle
    # Ties are of one scale; the zero points may differ all the same.
    zero_point, other = int(rng.integers(limits.min, limits.max + 1)), int(rng.integers(outs.min, outs.max + 1))
    low, high = int(outs.min) + int(rng.integers(20)), int(outs.max) - int(rng.integers(20))
    if alike:
        other, low, high = zero_point, int(outs.min), int(outs.max)
    ratio = 1.0 if ties else float(np.exp(rng.uniform(-0.5, 0.5)))
    multiplier, shift = single_rounding_multiplier(ratio / (1 << fraction))
    rule = Requant("half_even" if ties else "half_up", 0, other, low, high, dtype=out)
    attributes = {
        **rule.attributes(), "layout": layout, "taps": list(taps), "bits": list(bits), "middle": middle,
        "zero_point": zero_point, "ties": int(ties), "slack": slack,
    }  # fmt: skip
    operands = [x, rows, down, columns, across, np.array([multiplier], np.int32), np.array([shift], np.int32)]
    if ties:
        scale = np.float32(np.exp(rng.uniform(-5, -2)))
        real = [(w / (1 << b)).astype(np.float32) for w, b in zip((down, across), bits, strict=True)]
        values = ((np.arange(256) + limits.min - zero_point).astype(np.float32) * scale).astype(np.float32)
        thresholds = ((np.arange(256) + outs.min - other + 0.5).astype(np.float32) * scale).astype(np.float32)
        operands += [*real, values, thresholds]
    return attributes, operands
