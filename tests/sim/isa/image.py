"""A bare program for one core: bytes to load, where to start, and which memory to look at afterwards."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from . import rv32_encode as rv

L1_BASE = 0x10000000
L2_CODE = 0x1C010000
# Blocks of program data in the shared L2, above any code a batch can have.
L2_DATA = 0x1C100000
STATUS_REGISTER = 0x1A1040A0
END_OF_COMPUTATION = 0x80000000


@dataclass(frozen=True)
class Encoded:
    """One instruction: what it says, its word, and its size in bytes."""

    text: str
    word: int
    size: int = 4

    @property
    def image(self) -> bytes:
        return self.word.to_bytes(self.size, "little")


@dataclass(frozen=True)
class Region:
    """Bytes at an address."""

    address: int
    content: bytes


@dataclass(frozen=True)
class Image:
    """A loaded program; `exit_address` is where the stub that stops the run begins."""

    entry: int
    exit_address: int
    regions: tuple[Region, ...]


def join_code(instructions: Iterable[Encoded]) -> bytes:
    """Instruction bytes in order."""
    return b"".join(instruction.image for instruction in instructions)


def exit_stub(code: int = 0) -> bytes:
    """Instructions that store the end-of-computation word and then wait for the machine to stop."""
    words = [
        *rv.load_constant(10, STATUS_REGISTER),
        *rv.load_constant(11, END_OF_COMPUTATION | code),
        rv.store("sw", 11, 10, 0),
        rv.jal(0, 0),
    ]
    return struct.pack(f"<{len(words)}I", *words)


def make_image(code: bytes, data: Iterable[Region], base: int = L2_CODE) -> Image:
    """Put the code and the exit stub at `base`."""
    return Image(base, base + len(code), (Region(base, code + exit_stub()), *data))
