"""Calls of the kernel that computes what an engine's bounds leave open."""

import numpy as np

from tests.kernels.call import Call, Out
from tests.kernels.matrix_cases import TYPE_CODES, Case, random_bytes


def settle_case(
    rng: np.random.Generator,
    size: tuple[int, int],
    columns: int,
    depth: int = 0,
    *,
    dtypes: tuple[str, str] = ("int8", "int8"),
    pads: tuple[int, int, int, int] = (1, 1, 1, 1),
    open_share: float = 0.05,
    below: bool = False,
) -> Case:
    """A picture of sums of so many inputs, or of 3x3 ones of each channel; open elements lie at either bound.

    `below`: all of them at the lower one, so that a second call finds the same.
    """
    (height, width), kernel = size, 1 if depth else 3
    top, left, bottom, right = (0, 0, 0, 0) if depth else pads
    lines, pixels, channels = height + kernel - 1 - top - bottom, width + kernel - 1 - left - right, depth or columns
    x = random_bytes(rng, (lines, pixels, channels), dtypes[0])
    weight = random_bytes(rng, (columns, kernel * kernel * (depth or 1)), "int8")
    wide = np.pad(x.astype(np.int64), ((top, bottom), (left, right), (0, 0)))
    sums = wide @ weight.astype(np.int64).T if depth else np.zeros((height, width, columns), np.int64)
    for tap in range(0 if depth else 9):
        i, j = divmod(tap, 3)
        sums += wide[i : i + height, j : j + width] * weight[:, tap].astype(np.int64)
    shift, low = rng.integers(1, 22, columns), -128 if dtypes[1] == "int8" else 0
    # Sums over the range of a byte and somewhat beyond.
    factor = np.round(rng.uniform(100, 600, columns) / (1 + np.abs(sums).max()) * np.exp2(16.0 + shift)).astype(
        np.int64
    )
    summand = rng.integers(-300, 300, columns) << shift
    expected = (
        np.clip(((sums * factor >> 16) + summand) >> shift, low, low + 255).astype(dtypes[1]).reshape(-1, columns)
    )
    is_open = rng.random(expected.shape) < open_share
    # Bytes that differ are open, whichever they are.
    other = (expected.view(np.uint8) ^ 1).view(expected.dtype)
    is_low = is_open if below else is_open & (rng.random(expected.shape) < 0.5)
    padded = np.pad(weight, ((0, 0), (0, -depth % 4)))
    fields = {
        "x": np.pad(x.reshape(-1), (0, 4)),
        "y": Out(expected.shape, dtypes[1], np.where(is_open & ~is_low, other, expected)),
        "upper": np.where(is_low, other, expected), "weight": padded,
        "stages": np.stack([factor, summand, shift], axis=1).astype(np.uint32).view(np.int32),
        "rows": height * width, "columns": columns, "width": width, "x_height": lines, "x_width": pixels,
        "x_stride": channels, "x_line_stride": pixels * channels, "kernel": kernel, "pad_top": top, "pad_left": left,
        "depth": depth + -depth % 4, "x_type": TYPE_CODES[dtypes[0]], "y_type": TYPE_CODES[dtypes[1]],
    }  # fmt: skip
    call = Call("settle", fields, expected={"open": int(is_open.sum())})
    return Case(call, expected, expected.size)
