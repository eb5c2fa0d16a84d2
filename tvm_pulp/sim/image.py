"""One file for simulators that load ELF files only: a program with its inputs and settings as loadable segments."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.sim.iss.elf import Elf

# tvm_pulp/symbols.h: the program prints what its symbols hold when it ends.
PRINT_CONTENTS = 2


def make_image(program: Elf, facts: Mapping[str, Any], inputs: Sequence[np.ndarray], inferences: int) -> bytes:
    """The program byte for byte, with inputs, the number of inferences and the request for results filled in."""
    segments = [(part.address, bytearray(part.data)) for part in program.segments if part.data]
    words = {"tvm_pulp_inferences": inferences, "tvm_pulp_request": PRINT_CONTENTS}
    for name, value in words.items():
        _place(segments, program.symbols[name], struct.pack("<I", value))
    for tensor, array in zip(facts["inputs"], inputs, strict=True):
        check_input(tensor, array)
        if "l3" in tensor:
            raise UserError(
                f"'{tensor['name']}' lies in L3, which only --device iss fills: compile with --state-memory l2"
            )
        _place(segments, program.symbols[tensor["symbol"]], np.ascontiguousarray(array).tobytes())
    return elf_file(program.entry, [(address, bytes(data)) for address, data in segments if data])


def check_input(tensor: Mapping[str, Any], array: np.ndarray) -> None:
    """A user error where an array is not what the network takes."""
    if list(array.shape) != list(tensor["shape"]) or array.dtype != np.dtype(tensor["dtype"]):
        raise UserError(
            f"input '{tensor['name']}' is {array.dtype}{list(array.shape)}: "
            f"the network takes {tensor['dtype']}{list(tensor['shape'])}"
        )


def _place(segments: list[tuple[int, bytearray]], address: int, data: bytes) -> None:
    """Into the segment that holds the address, else into one of its own: memory that the file does not initialise."""
    for start, content in segments:
        if start <= address and address + len(data) <= start + len(content):
            content[address - start : address - start + len(data)] = data
            return
    segments.append((address, bytearray(data)))


def elf_file(entry: int, segments: Sequence[tuple[int, bytes]]) -> bytes:
    """A minimal RV32 executable: headers and loadable segments, in order."""
    first = (52 + 32 * len(segments) + 63) // 64 * 64
    table, body = b"", b""
    for address, data in segments:
        table += struct.pack("<8I", 1, first + len(body), address, address, len(data), len(data), 7, 4)
        body += data + b"\0" * (-len(data) % 16)
    counts = (52, 32, len(segments), 0, 0, 0)
    header = b"\x7fELF\x01\x01\x01".ljust(16, b"\0") + struct.pack("<HHIIIII6H", 2, 243, 1, entry, 52, 0, 0, *counts)
    return (header + table).ljust(first, b"\0") + body
