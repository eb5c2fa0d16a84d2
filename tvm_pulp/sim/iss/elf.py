"""Read 32-bit ELF executables: segments to load, the entry point, symbols."""

import bisect
import struct
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.input_file import read_input
from tvm_pulp.limits import ELF_BYTES, ELF_NAME_BYTES, ELF_SEGMENTS, ELF_SYMBOLS

# Bytes of a page, which two segments may share in the file.
_SHARED = 1 << 16
_LONGEST_NAME = 1 << 16
_LOAD, _SYMTAB, _RISCV, _EXECUTABLE, _EXECUTABLE_SECTION = 1, 2, 243, 2, 4


@dataclass(frozen=True)
class Segment:
    """Bytes to place at an address; `size` may exceed the data, the rest is zero."""

    address: int
    data: bytes
    size: int


@dataclass(frozen=True)
class Elf:
    """An executable in memory."""

    entry: int
    segments: tuple[Segment, ...]
    symbols: dict[str, int] = field(repr=False)
    functions: tuple[tuple[int, str], ...] = field(repr=False)
    code: tuple[tuple[int, str], ...] = field(repr=False)
    """Starts of functions in executable sections, one per address, in ascending order."""

    @property
    def code_bytes(self) -> int:
        """Bytes of the network's own code, between the marks of its linker script."""
        return self.symbols["tvm_pulp_code_end"] - self.symbols["tvm_pulp_code_begin"]

    @cached_property
    def _starts(self) -> list[int]:
        return [address for address, _ in self.functions]

    def nearest(self, address: int) -> str | None:
        """`function+0x12` for an address inside the program, else None."""
        inside = any(s.address <= address < s.address + max(s.size, 1) for s in self.segments)
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0 or not inside:
            return None
        start, name = self.functions[index]
        return f"{name}+0x{address - start:x}" if address != start else name


def read_elf(source: str | Path | bytes, machine: int = _RISCV) -> Elf:
    """Parse a file or its bytes, of a machine by its number; anything malformed is a user error."""
    if isinstance(source, bytes):
        return _parse(source, "ELF data", machine)
    return _parse(read_input(source, f"cannot read {source}", ELF_BYTES), str(source), machine)


def _parse(content: bytes, name: str, machine: int) -> Elf:
    refuse_if(content[:4] != b"\x7fELF", f"{name} is not an ELF file: give a bare-metal RV32 executable")
    refuse_if(
        len(content) < 52 or content[4:6] != b"\x01\x01",
        f"{name} is not a 32-bit little-endian ELF file: build it for riscv32",
    )
    try:
        return _parse_sections(content, name, machine)
    except (struct.error, IndexError):
        raise UserError(f"{name} is a truncated or damaged ELF file: build it again") from None


def _slice(content: bytes, offset: int, size: int) -> bytes:
    if offset + size > len(content):
        raise struct.error("outside the file")
    return content[offset : offset + size]


def _parse_sections(content: bytes, name: str, wanted: int) -> Elf:
    kind, machine = struct.unpack_from("<HH", content, 16)
    refuse_if(
        machine != wanted or kind != _EXECUTABLE,
        f"{name} is no RISC-V executable (machine {machine}, type {kind}): link it for riscv32",
    )
    entry, program, section = struct.unpack_from("<III", content, 24)
    program_size, programs, section_size, sections = struct.unpack_from("<HHHH", content, 42)
    if (programs and program_size < 32) or (sections and section_size < 40):
        raise struct.error("short headers")
    segments: list[Segment] = []
    total = 0
    for index in range(programs):
        kind, offset, _, address, stored, size = struct.unpack_from("<IIIIII", content, program + index * program_size)
        if kind != _LOAD or size == 0:
            continue
        if stored > size:
            raise struct.error("segment larger in the file than in memory")
        ELF_SEGMENTS.check(len(segments) + 1, f"{name} holds")
        total += stored
        # Segments may share a page of the file, no more.
        if total > len(content) + _SHARED * (len(segments) + 1):
            raise struct.error("segments overlap in the file")
        segments.append(Segment(address, _slice(content, offset, stored), size))
    refuse_if(not segments, f"{name} has nothing to load: link it as an executable")
    return Elf(entry, tuple(segments), *_symbols(content, name, section, section_size, sections))


def _symbols(
    content: bytes, name: str, section: int, section_size: int, sections: int
) -> tuple[dict[str, int], tuple[tuple[int, str], ...], tuple[tuple[int, str], ...]]:
    headers = [struct.unpack_from("<10I", content, section + index * section_size) for index in range(sections)]
    symbols: dict[str, int] = {}
    functions: list[tuple[int, str]] = []
    code: dict[int, tuple[int, str]] = {}
    for header in [header for header in headers if header[1] == _SYMTAB][:1]:  # there is one
        strings = headers[header[6]]
        text, table = _slice(content, strings[4], strings[5]), _slice(content, header[4], header[5])
        ELF_SYMBOLS.check(len(table) // 16, f"{name} holds")
        named, most_named = 0, ELF_NAME_BYTES.most
        for at, value, _, info, _, home in struct.iter_unpack("<IIIBBH", table[: len(table) // 16 * 16]):
            end = text.find(b"\0", at, at + _LONGEST_NAME)
            if end < 0 and at < len(text):
                raise struct.error("a name without an end")
            # Names may share their ends: together they can be far longer than the file.
            named += max(end - at, 0)
            if named > most_named:
                ELF_NAME_BYTES.check(named, f"{name} holds")
            label = text[at:end].decode("utf-8", "replace") if end > at else ""
            if not label or home == 0:
                continue
            symbols.setdefault(label, value)
            if info & 15 in (0, 2) and not label.startswith(("$", ".L")):
                functions.append((value, label))
                if home < sections and headers[home][2] & _EXECUTABLE_SECTION:
                    # A function's own name goes before that of a label.
                    code[value] = max(code.get(value, (-1, "")), (info & 15, label), key=lambda known: known[0])
    starts = tuple((address, label) for address, (_, label) in sorted(code.items()))
    return symbols, tuple(sorted(functions)), starts
