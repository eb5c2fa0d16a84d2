"""The memory functions for programs without a C library, under other names beside the host's own."""

import ctypes
import random
from pathlib import Path

import pytest

from tvm_pulp.toolchain import build_host_library

NAMES = ("memcpy", "memmove", "memset", "memcmp")


@pytest.fixture(scope="module")
def library(repository: Path) -> ctypes.CDLL:
    source = repository / "c_runtime" / "libc" / "memory.c"
    renamed = [f"{name}=checked_{name}" for name in NAMES]
    loaded = ctypes.CDLL(str(build_host_library([source], [source.parent], defines=renamed, sanitize=True)))
    for name in NAMES:
        function = getattr(loaded, f"checked_{name}")
        second = ctypes.c_int if name == "memset" else ctypes.c_void_p
        function.argtypes = [ctypes.c_void_p, second, ctypes.c_size_t]
        function.restype = ctypes.c_int if name == "memcmp" else ctypes.c_void_p
    return loaded


def cases() -> list[tuple[int, int, int]]:
    """(destination offset, source offset, bytes) for all alignments, short lengths and overlaps both ways."""
    return [(to, start, size) for to in range(8, 20) for start in range(8, 20) for size in (0, 1, 3, 4, 7, 8, 13, 40)]


@pytest.mark.parametrize("name", ["memcpy", "memmove"])
def test_copy(library: ctypes.CDLL, name: str) -> None:
    pattern = random.Random(1).randbytes(128)
    for to, start, size in cases():
        if name == "memcpy" and abs(to - start) < size:
            start += 48  # overlapping ranges are for memmove only
        expected = bytearray(pattern)
        expected[to : to + size] = pattern[start : start + size]
        buffer = ctypes.create_string_buffer(pattern, len(pattern))
        base = ctypes.addressof(buffer)
        assert getattr(library, f"checked_{name}")(base + to, base + start, size) == base + to
        assert buffer.raw == bytes(expected), (to, start, size)


def test_fill(library: ctypes.CDLL) -> None:
    pattern = random.Random(2).randbytes(96)
    for to, _, size in cases():
        for value in (0, 0xA5, -1, 0x1FF):  # only the lowest byte counts
            expected = bytearray(pattern)
            expected[to : to + size] = bytes([value & 0xFF]) * size
            buffer = ctypes.create_string_buffer(pattern, len(pattern))
            base = ctypes.addressof(buffer)
            assert library.checked_memset(base + to, value, size) == base + to
            assert buffer.raw == bytes(expected)


def test_compare(library: ctypes.CDLL) -> None:
    # Bytes compare as unsigned, and the first difference decides.
    for left, right, sign in [
        (b"", b"", 0),
        (b"abc", b"abc", 0),
        (b"ab\xff", b"ab\x01", 1),
        (b"az", b"ba", -1),
    ]:
        result = library.checked_memcmp(left, right, len(left))
        assert (result > 0) - (result < 0) == sign
