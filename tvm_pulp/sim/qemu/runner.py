"""The runner of device `qemu`: outputs, and instructions in total and of every layer."""

from pathlib import Path

from tvm_pulp.sim.cpu_runner import CpuMachine, CpuRunner
from tvm_pulp.sim.iss.elf import Elf, Segment
from tvm_pulp.sim.qemu.boards import Emulated
from tvm_pulp.sim.qemu.machine import QemuMachine
from tvm_pulp.soc.cpu import Cpu


class QemuRunner(CpuRunner):
    """A CPU on an emulated board: knows outputs and instructions, and no time."""

    name = "qemu"

    def check(self, cpu: Cpu) -> None:
        Emulated.of(cpu.devices[self.name]).program()

    def read_program(self, path: Path, cpu: Cpu) -> Elf:
        """The program, of 32 or 64 bits."""
        from elftools.elf.elffile import ELFFile

        with path.open("rb") as stream:
            file = ELFFile(stream)
            parts = [s for s in file.iter_segments("PT_LOAD") if s["p_memsz"]]
            segments = tuple(Segment(s["p_paddr"], s.data(), s["p_memsz"]) for s in parts)
            symbols = {s.name: int(s["st_value"]) for s in file.get_section_by_name(".symtab").iter_symbols()}
            return Elf(int(file["e_entry"]), segments, symbols, (), ())

    def machine(self, program: Elf, cpu: Cpu, layers: int) -> CpuMachine:
        return QemuMachine(program, cpu, layers)
