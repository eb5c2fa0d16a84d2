"""A SoC as programs see it: its runtime and kernels, its linker script, and the numbers that C is built with."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.soc.core_kinds import Architecture, hal_kind
from tvm_pulp.soc.description import Soc
from tvm_pulp.soc.kernel_sources import kernel_texts, needed_sources, texts_in, with_parts

_SCRIPT = "link.ld.in"
# What all runtimes have in common, beside their folders.
_SHARED_HAL = "shared"
_NO_CHOICE = ("include", _SHARED_HAL)
_HEADERS = "include/tvm_pulp"


@dataclass(frozen=True)
class Platform:
    """The parts of a program for a SoC. Paths of files are relative to the runtime's folder in an archive."""

    soc: Soc

    def check(self) -> None:
        """That programs can be built for the SoC; a user error says what its description lacks."""
        software = self.soc.software
        found = {"hal": software.hal, "kernels": software.kernels, "firmware": software.firmware}
        for key, name in found.items():
            folders = (entry.name for entry in _folder(key).iterdir() if entry.is_dir())
            known = sorted(folder for folder in folders if folder not in _NO_CHOICE)
            if name not in known and (key == "hal" or name):
                stated = f"names '{name}'" if name else "is not given"
                raise UserError(
                    f"SoC {self.soc.name}: software.{key} {stated}: choose one of {', '.join(known)}, or add the "
                    f"folder c_runtime/{key}/{name or 'NAME'}"
                )
        refuse_if(
            self.soc.software.kernels == "xpulp" and not self.soc.cluster.isa.xpulp,
            f"SoC {self.soc.name}: software.kernels 'xpulp' needs cluster.isa.xpulp: leave it empty for generated C",
        )
        kind = self.soc.cluster.kind
        refuse_if(
            kind.hal not in (None, self.soc.software.hal) or hal_kind(self.soc.software.hal) not in (None, kind),
            f"SoC {self.soc.name}: software.hal '{self.soc.software.hal}' is not for cores of the kind "
            f"'{self.soc.cluster.core}': change one of them",
        )
        refuse_if(
            self.soc.memory.l2.private_bytes == 0 and kind.controller,
            f"SoC {self.soc.name}: memory.l2.private_bytes is 0, but the controller's stack lies there: set it",
        )

    def march(self, *, uses_float: bool) -> Architecture:
        """The architecture that programs are compiled for, and with it the ABI of all their code."""
        kind = self.soc.cluster.kind
        return kind.float_architecture if uses_float and self.soc.cluster.isa.single_float else kind.architecture

    def constant_levels(self) -> dict[str, int]:
        """Levels beside L2 where constants can live, with their bytes."""
        return {**self.soc.software.weight_parts, "l3": self.soc.memory.l3.size}

    def defines(self) -> list[str]:
        """Numbers of the SoC that its C is built with."""
        found = {
            "TVM_PULP_HARDWARE_CORES": f"{self.soc.cluster.cores}",
            "TVM_PULP_STACK_BYTES": f"{self.soc.software.stack_bytes}",
            "TVM_PULP_L1_BYTES": f"{self.soc.memory.l1.size:#x}",
            "TVM_PULP_WEIGHT_BASE": f"{self.soc.memory.weight.base:#x}u",
        }
        if self.soc.software.runtime_l1_bytes:
            found["TVM_PULP_RUNTIME_L1_BYTES"] = f"{self.soc.software.runtime_l1_bytes}"
        if self.soc.cluster.kind.tiles:
            tiles = self.soc.tiles
            found |= {"POOL_TILES": f"{self.soc.memory.l1.banks // tiles.banks}", "POOL_GROUPS": f"{tiles.groups}"}
            found |= {"POOL_TILE_CORES": f"{tiles.cores}", "POOL_TILE_BANKS": f"{tiles.banks}"}
            found["POOL_WAKE_MASKS"] = f"{int(tiles.wake_masks)}"
            found["POOL_DOT_PRODUCTS"] = f"{int(self.soc.cluster.isa.xpulp)}"
        for name, engine in self.soc.engines.items():
            found |= {
                f"{name.upper()}_BASE": f"{engine.base:#x}u",
                f"{name.upper()}_EVENT_LINE": f"{engine.event_line}u",
            }
        return [f"{name}={value}" for name, value in found.items()]

    def linker_script(self) -> str:
        """The script of all HALs with the parts of one and the memories of the SoC."""
        memory, software = self.soc.memory, self.soc.software
        private = memory.l2.private_bytes
        regions = [("L1 (rw)", memory.l1.base, memory.l1.size)]
        base = memory.weight.base
        for name, size in software.weight_parts.items():
            regions.append((f"{name.upper()} (r)", base, size))
            base += size
        if private:
            regions.append(("L2_PRIVATE (rw)", memory.l2.base, private))
        regions.append(("L2 (rwx)", memory.l2.base + private, memory.l2.size - private))
        lines = [f"  {name:17} : ORIGIN = {base:#010x}, LENGTH = {size:#x}" for name, base, size in regions]
        weights = [f"  .{n} : ALIGN(32) {{ *(.{n} .{n}.*) }} > {n.upper()}" for n in software.weight_parts]
        text = _folder("hal").joinpath(_SHARED_HAL, _SCRIPT).read_text(encoding="utf-8")
        for mark, value in {
            "@CODE@": self._script_part("code"),
            "@L1@": self._script_part("l1"),
            "@CODE_LINE@": f"{self.soc.cluster.kind.code_line_bytes}",
            "@MEMORIES@": "\n".join(lines),
            "@WEIGHT_SECTIONS@": "\n".join(weights),
            "@STACKS@": f"{self.soc.stacks} * {software.stack_bytes}",
        }.items():
            text = text.replace(mark, value)
        return text

    def _script_part(self, name: str) -> str:
        """Return the HAL's part of the linker script, of code or of L1; nothing where it has none."""
        part = _folder("hal").joinpath(self.soc.software.hal, f"{name}.ld.in")
        return part.read_text(encoding="utf-8") if part.is_file() else ""

    @property
    def executor(self) -> str:
        """The file of the runtime that calls everything else."""
        return "hal/executor.c"

    def hal_files(self) -> dict[str, str]:
        """The bare-metal runtime and the memory functions it needs."""
        suffixes = (".c", ".h", ".S")
        found: dict[str, str] = {}
        for folder in (_SHARED_HAL, self.soc.software.hal):
            found |= {f"hal/{path}": text for path, text in texts_in(_folder("hal").joinpath(folder), suffixes)}
        found |= {f"libc/{path}": text for path, text in texts_in(_folder("libc"), suffixes)}
        return {**found, "hal/link.ld": self.linker_script()}

    def firmware_files(self) -> dict[str, str]:
        """The runtime by calls of the SDK that the SoC has; paths count from the archive's folder `firmware`."""
        name = self.soc.software.firmware
        return dict(texts_in(_folder("firmware").joinpath(name), (".c", ".h"))) if name else {}

    def kernel_files(self, functions: Iterable[str], parts: Collection[str] = ()) -> dict[str, str]:
        """The sources of hand-written kernels that are called, and what they share with others.

        `parts`: names of what only some networks have, and kernels hold code for.
        """
        family, found = self.soc.software.kernels, {}
        headers = [f"{family}.h"]
        for name in headers:  # and those that they include
            if (header := _folder(_HEADERS).joinpath(name)).is_file():
                text = found[f"{_HEADERS}/{name}"] = header.read_text(encoding="utf-8")
                headers += re.findall(r'#include "tvm_pulp/(\w+\.h)"', text)
        found |= kernel_texts(family)
        return needed_sources(with_parts(found, parts), functions)


def _folder(path: str) -> Any:
    return resources.files("c_runtime").joinpath(path)
