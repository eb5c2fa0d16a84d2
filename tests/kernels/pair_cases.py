"""Calls of kernels that work on two bytes at once, with the result that the dialect defines."""

from typing import Any

import numpy as np

from schedules.byte_functions import PairScale
from tests.kernels.call import Call, Out
from tests.kernels.matrix_cases import Case, random_bytes


def random_scale(rng: np.random.Generator) -> PairScale:
    """Any multiplier of eight bits with the shift that keeps results below 256."""
    mul = int(rng.integers(1, 256))
    shift = int(rng.integers(mul.bit_length(), 10))
    room = min((1 << 16) - 1, (256 << shift) - 1) - 255 * mul
    return PairScale(mul, int(rng.integers(0, max(1, min(room, 1 << shift)))), shift)


def _scaled(scale: PairScale, u: np.ndarray) -> np.ndarray:
    return (u.astype(np.int64) * scale.mul + scale.add) >> scale.shift


def add_pairs_case(
    rng: np.random.Generator,
    rows: int,
    columns: int,
    form: str = "scaled",
    *,
    per_channel: bool = True,
    dtype: str = "int8",
    misalign: int = 0,
    broadcast: bool = False,
    rare: bool = False,
) -> Case:
    """`form`: alone, kept, scaled (one operand), twice (both). `rare`: few results are clipped."""
    a = random_bytes(rng, (rows, columns), dtype)
    b = random_bytes(rng, (1 if broadcast else rows, columns), dtype)
    f = random_scale(rng) if form == "twice" else PairScale()
    g = random_scale(rng) if form in ("scaled", "twice") else PairScale()
    flip = 128 if dtype == "int8" else 0
    left, right = a.view(np.uint8) ^ flip, b.view(np.uint8) ^ flip
    total = left.astype(np.int64) if form == "alone" else _scaled(f, left) + _scaled(g, right)
    channels, shift, span = columns if per_channel else 1, int(rng.integers(4, 16)), int(rng.choice([255, 255, 127]))
    scale = rng.uniform(0.4, 0.9 if rare else 1.5, channels) * span / (255 if form == "alone" else 510)
    mul = np.maximum(1, np.rint(scale * 2**shift)).astype(np.int32)
    add = rng.integers(-20 if not rare else 0, 21 if not rare else 1, channels).astype(np.int32) << shift
    value = np.clip((total * mul + add) >> shift, 0, span).astype(np.uint8) ^ flip
    fields: dict[str, Any] = {
        "a": a,
        "b": None if form == "alone" else b,
        "y": Out((rows, columns), dtype),
        "mul": mul,
        "add": add,
        "per_channel": int(channels > 1),
        "rows": rows,
        "columns": columns,
        "a_stride": columns,
        "b_stride": 0 if broadcast else columns,
        "y_stride": columns,
        "shift": shift,
        "span": span,
        "flip": flip * 0x01010101,
        **{name: {"mul": s.mul, "add": s.add * 0x10001, "shift": s.shift} for name, s in (("f", f), ("g", g))},
    }
    return Case(Call("add_pairs", fields, misalign={"a": misalign}), value.view(dtype), rows * columns)
