"""Boards that QEMU emulates: where their memory lies, and how a program in it is started."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from tvm_pulp.errors import UserError


@dataclass(frozen=True)
class Board:
    """A machine of QEMU whose memory can be a file. `vectors`: its core begins by the two words at address 0."""

    memory: int
    bytes: int
    vectors: bool = False
    options: tuple[str, ...] = ()


# By system and machine.
_BOARDS = {
    # Its size is fixed.
    ("arm", "mps3-an547"): Board(0x60000000, 2 << 30, vectors=True),
    ("aarch64", "virt"): Board(0x40000000, 256 << 20),
    ("riscv64", "virt"): Board(0x80000000, 256 << 20, options=("-bios", "none")),
}


@dataclass(frozen=True)
class Emulated:
    """How QEMU is called for a core: `SYSTEM MACHINE CPU`, as a SoC description names it."""

    system: str
    machine: str
    cpu: str

    @classmethod
    def of(cls, name: str) -> "Emulated":
        parts = name.split()
        if len(parts) != 3 or tuple(parts[:2]) not in _BOARDS:
            raise UserError(
                f"cpu.devices names '{name}' for qemu: give system, machine and CPU, the first two of "
                f"{', '.join(map(' '.join, _BOARDS))}"
            )
        return cls(*parts)

    @property
    def board(self) -> Board:
        return _BOARDS[self.system, self.machine]

    def program(self) -> Path:
        """QEMU itself; a user error says how to install it."""
        name = f"qemu-system-{self.system}"
        found = shutil.which(name)
        if found is None:
            packages = "qemu-system-misc" if self.system.startswith("riscv") else "qemu-system-arm"
            raise UserError(
                f"--device qemu needs {name} on PATH: install QEMU 7.2 or later (on Debian: apt-get install {packages})"
            )
        return Path(found)
