"""Devices that emulate a CPU: programs are built of archives, inputs and outputs found by their symbols."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.codegen.layer_captures import captured_layers, from_files
from tvm_pulp.errors import UserError, WrongAnswer
from tvm_pulp.sim.debug_report import SYMBOL, debug_text
from tvm_pulp.sim.image import array_of, bytes_of, check_input
from tvm_pulp.sim.iss.elf import Elf
from tvm_pulp.sim.runner import Capabilities, Runner, Statistics
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.toolchain import build_of_archive
from tvm_pulp.toolchain.cpu_compilers import build_cpu_elf


class Stopped(Exception):
    """The program did not come to its end; says why."""


class CpuMachine(Protocol):
    """A core with a program in its memories."""

    def write(self, address: int, data: bytes) -> None:
        """Bytes into a memory."""

    def read(self, address: int, count: int) -> bytes:
        """Bytes of a memory."""

    def run(self) -> list[int]:
        """From reset to the end; instructions of the last inference by layer, those outside of it first."""

    def close(self) -> None:
        """Give its memories back."""


class CpuRunner(Runner):
    """An emulated CPU: knows outputs and instructions, and no time."""

    capabilities: ClassVar[Capabilities] = Capabilities(instructions=True)
    name: ClassVar[str]
    _loaded: CpuMachine | None = None
    # What the checks of a debug build found.
    debug_text: str | None = None

    @abstractmethod
    def check(self, cpu: Cpu) -> None:
        """A user error where the emulator is not installed."""

    @abstractmethod
    def read_program(self, path: Path, cpu: Cpu) -> Elf:
        """The executable."""

    @abstractmethod
    def machine(self, program: Elf, cpu: Cpu, layers: int) -> CpuMachine:
        """A machine with the program in its memories."""

    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        assert toolchain is None, "it has none to choose from"
        self._facts, self._captures = metadata["tvm_pulp"], from_files(files)
        cpu = socs.recorded(self._facts).cpu
        if cpu is None or self.name not in cpu.devices:
            known = [n for n in socs.names() if (c := socs.load(n).cpu) is not None and self.name in c.devices]
            raise UserError(
                f"--device {self.name} does not know the core of SoC '{self._facts['soc']}': compile with --soc="
                f"{' or --soc='.join(known)}"
            )
        self.check(cpu)
        self._cpu, started = cpu, time.perf_counter()
        with build_of_archive():
            self._path = build_cpu_elf(files, cpu)
        self._program = self.read_program(self._path, cpu)
        self._build_seconds = time.perf_counter() - started

    @property
    def _machine(self) -> CpuMachine:
        assert self._loaded is not None, "load comes first"
        return self._loaded

    def close(self) -> None:
        loaded, self._loaded = self._loaded, None
        if loaded is not None:
            loaded.close()

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self.close()
        self._loaded = self.machine(self._program, self._cpu, len(self._facts["layers"]))
        for tensor, array in zip(self._facts["inputs"], inputs, strict=True):
            check_input(tensor, array)
            self._machine.write(self._program.symbols[tensor["symbol"]], np.ascontiguousarray(array).tobytes())

    def run(self, inferences: int) -> None:
        self._machine.write(self._program.symbols["tvm_pulp_inferences"], inferences.to_bytes(4, "little"))
        started = time.perf_counter()
        try:
            self._counts = self._machine.run()
        except Stopped as reason:
            self._look_into_checks(str(reason))  # a layer that was wrong before explains it
            raise WrongAnswer(
                f"the program stopped: {reason}: the compiled program is wrong, please report it with the archive"
            ) from None
        self._run_seconds = time.perf_counter() - started
        self.debug_text = self._look_into_checks()

    def _look_into_checks(self, fault: str = "") -> str | None:
        if "debug" not in self._facts:
            return None
        return debug_text(self._machine.read, self._program.symbols[SYMBOL], fault, self._cpu.pointer_bytes)

    def read_back(self) -> list[np.ndarray]:
        symbols, read = self._program.symbols, self._machine.read
        return [array_of(t, read(symbols[t["symbol"]], bytes_of(t))) for t in self._facts["outputs"]]

    def layers(self, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        self.load(inputs)
        self.run(1)
        base = self._program.symbols.get("arena", 0)
        return captured_layers(self._captures, lambda made: self._machine.read(base + made.offset, made.bytes))

    def statistics(self) -> Statistics:
        layers, code = self._counts[1:], self._program.code_bytes
        return Statistics(
            self._build_seconds, self._run_seconds, layer_instructions=layers, instructions=sum(layers), code_bytes=code
        )

    def program(self) -> Path | None:
        return self._path
