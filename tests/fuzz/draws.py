"""What mutations of all formats share: random choices, numbers and texts that break things, changes of bytes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Random = np.random.Generator
Edit = Callable[[Random, bytes], bytes]

NUMBERS = [-(1 << 63), -(1 << 31), -7, -2, -1, 0, 1, 2, 3, 5, 17, 255, 1 << 16, 1 << 31, 1 << 40, (1 << 63) - 1]
REALS = [0.0, -1.0, 1e-38, 1e38, float("nan"), float("inf"), -float("inf"), 1e-3, 3.0]
NAMES = ["", "a*/b", 'q"uote', "new\nline", "../../up", "int", "while", "größe", "\u202e", "x" * 5000, "%s%n", "\\"]


def one(rng: Random, items: Sequence[Any]) -> Any:
    """One of some things; None where there are none."""
    return items[int(rng.integers(len(items)))] if len(items) else None


def edit_bytes(rng: Random, content: bytes) -> bytes:
    """Flip, overwrite, cut, remove or insert a few bytes at one place."""
    if not content:
        return content
    data = bytearray(content)
    place, choice = int(rng.integers(len(data))), rng.random()
    if choice < 0.4:
        data[place] ^= 1 << int(rng.integers(8))
    elif choice < 0.6:
        data[place] = one(rng, [0, 1, 127, 128, 255])
    elif choice < 0.7:
        del data[place:]
    elif choice < 0.8:
        del data[place : place + int(rng.integers(1, 9))]
    elif choice < 0.9:
        data[place:place] = rng.bytes(int(rng.integers(1, 9)))
    else:
        data[place : place + 4] = int(rng.integers(0, 1 << 32)).to_bytes(4, "little")
    return bytes(data)
