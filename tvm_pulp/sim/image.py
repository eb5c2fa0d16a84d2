"""A program for simulators that load ELF files only: inputs are filled in, and it prints its results when it ends."""

import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tvm_pulp.errors import refuse_if
from tvm_pulp.sim.iss.elf import Elf

# tvm_pulp/symbols.h: the program prints what its symbols hold when it ends.
PRINT_CONTENTS = 2


def make_image(program: Elf, facts: Mapping[str, Any], inputs: Sequence[np.ndarray], inferences: int) -> bytes:
    """The program byte for byte, with inputs, the number of inferences and the request for results filled in."""
    segments = [(part.address, bytearray(part.data)) for part in program.segments if part.data]
    for name, value in {"tvm_pulp_inferences": inferences, "tvm_pulp_request": PRINT_CONTENTS}.items():
        _place(segments, program.symbols[name], struct.pack("<I", value))
    for tensor, array in zip(facts["inputs"], inputs, strict=True):
        check_input(tensor, array)
        refuse_if(
            "l3" in tensor,
            f"'{tensor['name']}' lies in L3, which only --device iss fills: compile with --state-memory l2",
        )
        _place(segments, program.symbols[tensor["symbol"]], np.ascontiguousarray(array).tobytes())
    return elf_file(program.entry, [(address, bytes(data)) for address, data in segments if data])


def check_input(tensor: Mapping[str, Any], array: np.ndarray) -> None:
    """A user error where an array is not what the network takes."""
    refuse_if(
        list(array.shape) != list(tensor["shape"]) or array.dtype != np.dtype(tensor["dtype"]),
        f"input '{tensor['name']}' is {array.dtype}{list(array.shape)}: "
        f"the network takes {tensor['dtype']}{list(tensor['shape'])}",
    )


def bytes_of(tensor: Mapping[str, Any]) -> int:
    """Bytes of an input or output of the program."""
    return math.prod(tensor["shape"]) * np.dtype(tensor["dtype"]).itemsize


def array_of(tensor: Mapping[str, Any], data: bytes) -> np.ndarray:
    """An output from its bytes."""
    return np.frombuffer(data, tensor["dtype"]).reshape(tensor["shape"]).copy()


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


_DATA = re.compile(r"^data (\w+) ([0-9a-f]{8}) ((?:[0-9a-f]{2})+)$")


class NothingPrinted(Exception):
    """The text does not end as a program does that came to its end."""


def parse_contents(text: str) -> dict[str, bytes]:
    """Bytes by symbol; NothingPrinted unless the end marker stands behind them."""
    found: dict[str, bytearray] = {}
    ended = False
    for line in text.splitlines():
        match = _DATA.match(line.strip())
        if match is not None:
            held = found.setdefault(match[1], bytearray())
            if int(match[2], 16) != len(held):
                raise NothingPrinted(f"lines of '{match[1]}' are missing")
            held += bytes.fromhex(match[3])
        ended = ended or (line.strip() == "end" and bool(found))
    if not ended:
        raise NothingPrinted("the end marker is missing")
    return {name: bytes(data) for name, data in found.items()}


def output_arrays(facts: Mapping[str, Any], contents: Mapping[str, bytes]) -> list[np.ndarray]:
    """Outputs in graph order."""
    return [array_of(tensor, contents.get(tensor["symbol"], b"")) for tensor in facts["outputs"]]


def words(contents: Mapping[str, bytes], symbol: str) -> np.ndarray:
    """An array of 32-bit words."""
    return np.frombuffer(contents.get(symbol, b""), np.uint32)


def layer_cycles(contents: Mapping[str, bytes]) -> list[int]:
    """Cycles between neighbouring marks of the last inference; the counter may wrap around."""
    count = int(words(contents, "tvm_pulp_mark_count")[0])
    return [int(cycles) for cycles in np.diff(words(contents, "tvm_pulp_layer_cycles")[: max(count, 1)])]
