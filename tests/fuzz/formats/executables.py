"""ELF files: headers above all, then tables, code and length."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.fuzz.formats.format import Format, Trial
from tests.sim.guest import assemble

_BORDERS = (0, 1, 2, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x1C000000, 0x1C1FFFFC, 0x10000000)


def edit(rng: np.random.Generator, elf: bytes) -> bytes:
    """One change."""
    out = bytearray(elf)
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
    return bytes(out)


def _set_word(rng: np.random.Generator, out: bytearray, at: int, size: int) -> None:
    value = int(rng.choice(_BORDERS)) if rng.integers(2) else int(rng.integers(1 << 32))
    if at + size <= len(out):
        out[at : at + size] = value.to_bytes(4, "little")[:size]


PROGRAM = ".text\nmain:\n  li t0, 0x1a10f000\n  li t1, 'x'\n  sw t1, 0(t0)\n  ret\n.data\n.space 64\n.bss\n.space 256\n"


def seeds(folder: Path) -> Sequence[Path]:
    """A program that prints a character."""
    path = folder / "prints.elf"
    path.write_bytes(assemble(PROGRAM))
    return [path]


def command(rng: np.random.Generator, trial: Trial) -> list[str]:
    """Simulate it for a while, with what watches it now and then."""
    report = ["--report", str(trial.out / "report.json")] if rng.integers(4) == 0 else []
    return ["sim", str(trial.mutant), "--max-cycles", "20000", *report]


# A guest passes its own status through; 126 is a refusal, 127 a fault of the guest.
FORMAT = Format("elf", seeds, edit, command, statuses=frozenset(range(128)), edits=4)
