"""A copy of a program whose symbols include the tensors that the compiler placed in L1."""

import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence

from tvm_pulp.planning.program.plan_record import PlanJson

_SYMTAB, _ABSOLUTE, _OBJECT = 2, 0xFFF1, 1


def l1_tensors(plan: PlanJson, arena: int) -> dict[str, tuple[int, int]]:
    """Address and bytes of every block of L1 by symbol: `l1_` and the tensor's name.

    Blocks that share a name, scratch memory for example, are told apart by the step in which they begin to live.
    """
    shared = Counter(block.name for block in plan.blocks)
    found: dict[str, tuple[int, int]] = {}
    for block in plan.blocks:
        name = "l1_" + re.sub(r"\W", "_", block.name)
        if shared[block.name] > 1:
            name += f"_{block.alive[0]}"
        found.setdefault(name, (arena + block.offset, block.bytes))
    return found


def layer_marks(layers: Sequence[str], marks: int) -> dict[str, tuple[int, int]]:
    """Address and bytes of the word that core 0 writes when a layer begins, by symbol: `layer_` and its name."""
    return {f"layer_{name}": (marks + 4 * number, 4) for number, name in enumerate(layers)}


def with_symbols(elf: bytes, symbols: Mapping[str, tuple[int, int]]) -> bytes:
    """The executable with absolute symbols added; code and data stay where they are."""
    (section,) = struct.unpack_from("<I", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 46)
    headers = [list(struct.unpack_from("<10I", elf, section + index * size)) for index in range(count)]
    table = next((header for header in headers if header[1] == _SYMTAB), None)
    if table is None:
        return elf
    names = headers[table[6]]
    text = elf[names[4] : names[4] + names[5]]
    entries = elf[table[4] : table[4] + table[5]]
    for name, (address, bytes_) in symbols.items():
        entries += struct.pack("<IIIBBH", len(text), address, bytes_, 1 << 4 | _OBJECT, 0, _ABSOLUTE)
        text += name.encode() + b"\0"
    out = bytearray(elf)
    for header, content in ((names, text), (table, entries)):
        out += b"\0" * (-len(out) % 4)
        header[4], header[5] = len(out), len(content)
        out += content
    for index, header in enumerate(headers):
        struct.pack_into("<10I", out, section + index * size, *header)
    return bytes(out)
