"""The runner of device `unicorn`: outputs, and instructions in total and of every layer."""

from pathlib import Path

from tvm_pulp.sim.cpu_runner import CpuMachine, CpuRunner
from tvm_pulp.sim.iss.elf import Elf, read_elf
from tvm_pulp.sim.unicorn.machine import UnicornMachine, emulator
from tvm_pulp.soc.cpu import Cpu

_MACHINES = {"arm": 40}


class UnicornRunner(CpuRunner):
    """A CPU in an emulator of instructions: knows outputs and instructions, and no time."""

    name = "unicorn"

    def check(self, cpu: Cpu) -> None:
        emulator()

    def read_program(self, path: Path, cpu: Cpu) -> Elf:
        return read_elf(path, _MACHINES[cpu.machine])

    def machine(self, program: Elf, cpu: Cpu, layers: int) -> CpuMachine:
        return UnicornMachine(program, cpu, layers)
