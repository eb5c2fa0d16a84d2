"""Sizes beyond which something that is read is not plausible: the one place that states them. See docs/limits.md.

They are checked before memory is taken. Those of models are what the compiler is made for and stay as they are; the
others are a `Limit`, which `TVM_PULP_LIMITS="archive_bytes=4g,study_rows=1000000"` raises or lowers.
"""

import os
import re
from dataclasses import dataclass

from tvm_pulp.errors import UserError, refuse_if

VARIABLE = "TVM_PULP_LIMITS"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_KIB, _MIB, _GIB = _UNITS["k"], _UNITS["m"], _UNITS["g"]

# Protocol buffers end here, and so do sane files.
LARGEST_FILE = (1 << 31) - 1
# All constants of a model together; as C text they need several times as much.
LARGEST_CONSTANTS = 1 << 28
# One value of the network. Emitted loops index with 32 bits.
LARGEST_TENSOR = 1 << 30
# What constant folding may produce or read at once.
LARGEST_FOLDED = 1 << 26
MOST_NODES = 50_000
# Nodes that read one value that is not a constant.
MOST_READERS = 1000
MOST_AXES = 16
# Bytes of the name of a file in an archive: the format has no longer ones.
LONGEST_NAME = 255


@dataclass(frozen=True)
class Limit:
    """A limit that a user can move; `of` says what it counts."""

    name: str
    default: int
    of: str

    @property
    def most(self) -> int:
        """The limit as it is now."""
        return stated_limits().get(self.name, self.default)

    def check(self, count: int, what: str) -> None:
        """Raise where there is more; `what` begins the sentence."""
        refuse_if(count > self.most, f"{what} {count:,} {self.of}, more than {self.most:,}: {self.way_out(count)}")

    def way_out(self, needed: int | None = None) -> str:
        """The end of a sentence: how the limit is raised."""
        wanted = "NUMBER" if needed is None else needed
        return f"if that is meant, set {VARIABLE}={self.name}={wanted}"


ARCHIVE_BYTES = Limit("archive_bytes", 2 * _GIB, "bytes of an archive, unpacked")
ARCHIVE_FILES = Limit("archive_files", 20_000, "files in an archive")
ARRAY_BYTES = Limit("array_bytes", 2 * _GIB, "bytes of all arrays of an .npz file")
ARRAYS = Limit("arrays", 10_000, "arrays in an .npz file")
UNPACKED_BYTES = Limit("unpacked_bytes", 256 * _MIB, "bytes that a compressed file may hold, however small it is")
EXPANSION = Limit("expansion", 100, "times its own size that a compressed file may hold beyond that")
JSON_BYTES = Limit("json_bytes", 64 * _MIB, "bytes of a JSON file: report, plan, tokenizer, figures")
YAML_BYTES = Limit("yaml_bytes", 4 * _MIB, "bytes of a SoC description or a study")
ELF_BYTES = Limit("elf_bytes", 512 * _MIB, "bytes of an ELF file")
ELF_SEGMENTS = Limit("elf_segments", 1024, "segments to load from an ELF file")
ELF_SYMBOLS = Limit("elf_symbols", 1_000_000, "symbols of an ELF file")
ELF_NAME_BYTES = Limit("elf_name_bytes", 64 * _MIB, "bytes of all names of an ELF file's symbols")
MEMORY_BYTES = Limit("memory_bytes", _GIB, "bytes of a file with the contents of a memory")
STUDY_ROWS = Limit("study_rows", 200_000, "configurations of a study")
REPORT_LAYERS = Limit("report_layers", 5_000, "layers that a table or page shows one by one")
COMPILER_BYTES = Limit("compiler_bytes", 8 * _GIB, "bytes of address space of a C compiler")
COMPILER_SECONDS = Limit("compiler_seconds", 1800, "seconds of a C compiler with one file")
COMPILED_BYTES = Limit("compiled_bytes", 2 * _GIB, "bytes of a file that a C compiler writes")

LIMITS: dict[str, Limit] = {limit.name: limit for limit in list(globals().values()) if isinstance(limit, Limit)}


def stated_limits() -> dict[str, int]:
    """Limits that the environment states, by name."""
    found: dict[str, int] = {}
    for part in filter(None, (p.strip() for p in os.environ.get(VARIABLE, "").split(","))):
        match = re.fullmatch(r"(\w+)=([0-9]{1,15})([kmg]?)", part, re.ASCII)
        if match is None or match[1] not in LIMITS:
            raise UserError(f"{VARIABLE}: '{part}' is not NAME=NUMBER of one of {', '.join(LIMITS)}")
        found[match[1]] = int(match[2]) * _UNITS[match[3]]
    return found


def most_unpacked(packed: int) -> int:
    """Bytes that a compressed file of so many bytes may hold."""
    return max(UNPACKED_BYTES.most, EXPANSION.most * packed)
