"""Bytes of stack that functions need at most, with all that they call, from objects and what compilers say of frames.

Clang writes frames into the section `.stack_sizes`, GNU's compiler into a file beside the object. Who calls whom is
read from relocations: whatever a function refers to counts as called, so that pointers to functions are covered too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from tvm_pulp.soc.core_kinds import Architecture
from tvm_pulp.toolchain.build import RISCV_COMPILERS, RiscvToolchain
from tvm_pulp.toolchain.project.build_archive import FLAGS
from tvm_pulp.toolchain.riscv_compilers import RISCV_ISAS

_FLAG = {"zig": "-fstack-size-section", "gcc": "-fstack-usage"}


@dataclass
class StackUse:
    """Frames of functions, and what functions and tables refer to; names of one object's own begin with its number."""

    frames: dict[str, int] = field(default_factory=dict)
    references: dict[str, set[str]] = field(default_factory=dict)
    known: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)

    def chain(self, name: str, above: tuple[str, ...] = ()) -> tuple[int, tuple[str, ...]]:
        """Bytes of the deepest chain of calls from a function on, and the chain. No function of ours calls itself."""
        assert name not in above, f"recursion: {' -> '.join((*above, name))}"
        if name not in self.known:
            below = [self.chain(other, (*above, name)) for other in sorted(self.references.get(name, ()))]
            deepest, names = max(below, default=(0, ()))
            self.known[name] = self.frames.get(name, 0) + deepest, (name, *names)
        return self.known[name]

    def without(self, function: str | None) -> "StackUse":
        """The same, where a function of one object's own and its copies are not called."""
        if function is None:
            return self
        own = {name for name in self.frames if name.split(":")[-1].split(".")[0] == function}
        assert own, f"there is no function {function}"
        left = {name: others - own for name, others in self.references.items()}
        return StackUse(self.frames, left)


def stack_use(
    sources: Iterable[Path], include_dirs: Sequence[Path], flags: Sequence[str], toolchain: RiscvToolchain,
    march: Architecture, folder: Path,
) -> StackUse:  # fmt: skip
    """Compile sources, one after the other, and read what they need."""
    compiler, use = RISCV_COMPILERS[toolchain](RISCV_ISAS[march]), StackUse()
    fixed = [*compiler.compile_flags, *FLAGS, *flags, *(f"-I{path}" for path in include_dirs), _FLAG[toolchain]]
    for number, source in enumerate(sources):
        made = folder / f"{number}.o"
        compiler.run([*fixed, "-c", str(source), "-o", str(made)])
        with made.open("rb") as stream:
            read = _Object(ELFFile(stream), number)
            read.add_references(use)
            if toolchain == "zig":
                read.add_frames_of_section(use)
            else:
                read.add_frames_of_file(made.with_suffix(".su"), use)
    return use


class _Object:
    """An object with its functions and tables by place."""

    def __init__(self, image: Any, number: int) -> None:
        self._image, self._number = image, number
        self._symbols = list(image.get_section_by_name(".symtab").iter_symbols())
        self._places: dict[int, list[tuple[int, int, str]]] = {}
        self._functions: list[tuple[str, str]] = []
        for symbol in self._symbols:
            if symbol["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT"):
                name = f"{number}:{symbol.name}" if symbol["st_info"]["bind"] == "STB_LOCAL" else symbol.name
                begin, size = symbol["st_value"], symbol["st_size"]
                self._places.setdefault(symbol["st_shndx"], []).append((begin, begin + size, name))
                if symbol["st_info"]["type"] == "STT_FUNC":
                    self._functions.append((symbol.name, name))

    def _named(self, section: int, at: int) -> str | None:
        return next((name for begin, end, name in self._places.get(section, ()) if begin <= at < end), None)

    def _meant(self, entry: Any) -> str | None:
        symbol = self._symbols[entry["r_info_sym"]]
        if symbol["st_info"]["bind"] != "STB_LOCAL" or symbol["st_shndx"] == "SHN_UNDEF":
            return str(symbol.name)
        return self._named(symbol["st_shndx"], symbol["st_value"] + entry["r_addend"])

    def _relocations(self) -> Iterator[tuple[Any, Any]]:
        for section in self._image.iter_sections():
            if isinstance(section, RelocationSection):
                yield section, self._image.get_section(section["sh_info"])

    def add_references(self, use: StackUse) -> None:
        for section, target in self._relocations():
            if target.name.startswith((".stack_sizes", ".debug", ".eh_frame")):
                continue
            for entry in section.iter_relocations():
                owner, meant = self._named(section["sh_info"], entry["r_offset"]), self._meant(entry)
                if owner and meant and meant != owner:
                    use.references.setdefault(owner, set()).add(meant)

    def add_frames_of_section(self, use: StackUse) -> None:
        """An address of four bytes, and the size in groups of seven bits, the lowest first."""
        for section, target in self._relocations():
            if target.name != ".stack_sizes":
                continue
            data = target.data()
            for entry in section.iter_relocations():
                name, at, size, shift = self._meant(entry), entry["r_offset"] + 4, 0, 0
                while True:
                    size |= (data[at] & 0x7F) << shift
                    if data[at] < 0x80:
                        break
                    at, shift = at + 1, shift + 7
                assert name is not None
                use.frames[name] = size

    def add_frames_of_file(self, said: Path, use: StackUse) -> None:
        """Copies of a function that the compiler made for some of its callers have its name and a suffix."""
        for line in said.read_text(encoding="utf-8").splitlines():
            place, size, kind = line.split("\t")
            assert kind == "static", f"nobody knows the size of this frame: {line}"
            said_name = place.rsplit(":", 1)[1]
            for own, name in self._functions:
                if own == said_name or own.startswith(f"{said_name}."):
                    use.frames[name] = max(use.frames.get(name, 0), int(size))
