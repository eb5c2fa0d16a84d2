"""Executables with a few wrong bytes: headers above all, then tables, code and length."""

import struct

import numpy as np

_BORDERS = (0, 1, 2, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x1C000000, 0x1C1FFFFC, 0x10000000)


def mutate(rng: np.random.Generator, elf: bytes) -> bytes:
    """One to four changes."""
    out = bytearray(elf)
    for _ in range(int(rng.integers(1, 5))):
        _change(rng, out)
    return bytes(out)


def _change(rng: np.random.Generator, out: bytearray) -> None:
    kind = int(rng.integers(6))
    program, section = struct.unpack_from("<II", out, 28) if len(out) >= 52 else (0, 0)
    if kind == 0:  # the first header
        _set_word(rng, out, int(rng.integers(16, 50)), 2)
    elif kind == 1:  # a program header
        _set_word(rng, out, program + 4 * int(rng.integers(0, 16)), 4)
    elif kind == 2:  # a section header
        _set_word(rng, out, section + 4 * int(rng.integers(0, 60)), 4)
    elif kind == 3:  # code or data
        at = int(rng.integers(52, max(53, len(out))))
        out[at : at + 1] = bytes((int(rng.integers(256)),))
    elif kind == 4:
        del out[int(rng.integers(0, len(out) + 1)) :]
    else:
        out += rng.bytes(int(rng.integers(1, 64)))


def _set_word(rng: np.random.Generator, out: bytearray, at: int, size: int) -> None:
    value = int(rng.choice(_BORDERS)) if rng.integers(2) else int(rng.integers(1 << 32))
    if at + size <= len(out):
        out[at : at + size] = value.to_bytes(4, "little")[:size]
