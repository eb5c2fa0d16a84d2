"""The runner of device `unicorn`: outputs, and instructions in total and of every layer."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.codegen.layer_captures import CapturedLayers, from_files
from tvm_pulp.errors import UserError, WrongAnswer
from tvm_pulp.sim.image import check_input
from tvm_pulp.sim.iss.elf import read_elf
from tvm_pulp.sim.runner import Capabilities, Runner, Statistics
from tvm_pulp.sim.unicorn.machine import CpuMachine, Stopped, emulator
from tvm_pulp.toolchain import ToolchainError
from tvm_pulp.toolchain.cpu_compilers import build_cpu_elf

NAME = "unicorn"
_MACHINES = {"arm": 40}


class UnicornRunner(Runner):
    """An emulated CPU: knows outputs and instructions, and no time."""

    capabilities: ClassVar[Capabilities] = Capabilities(instructions=True)
    _machine: CpuMachine

    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        assert toolchain is None, "it has none to choose from"
        self._facts, self._captures = metadata["tvm_pulp"], from_files(files)
        cpu = socs.recorded(self._facts).cpu
        if cpu is None or NAME not in cpu.devices:
            known = [n for n in socs.names() if (c := socs.load(n).cpu) is not None and NAME in c.devices]
            raise UserError(
                f"--device {NAME} does not know the core of SoC '{self._facts['soc']}': compile with --soc="
                f"{' or --soc='.join(known)}"
            )
        emulator()
        self._cpu, started = cpu, time.perf_counter()
        try:
            self._path = build_cpu_elf(files, cpu, profile=True)
        except ToolchainError as error:
            raise error.of_archive from error
        self._program = read_elf(self._path, _MACHINES[cpu.machine])
        self._build_seconds = time.perf_counter() - started

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self._machine = CpuMachine(self._program, self._cpu, len(self._facts["layers"]))
        for tensor, array in zip(self._facts["inputs"], inputs, strict=True):
            check_input(tensor, array)
            self._machine.write(self._program.symbols[tensor["symbol"]], np.ascontiguousarray(array).tobytes())

    def run(self, inferences: int) -> None:
        self._machine.write(self._program.symbols["tvm_pulp_inferences"], inferences.to_bytes(4, "little"))
        started = time.perf_counter()
        try:
            self._counts = self._machine.run(self._cpu.devices[NAME])
        except Stopped as reason:
            raise WrongAnswer(
                f"the program stopped: {reason}: the compiled program is wrong, please report it with the archive"
            ) from None
        self._run_seconds = time.perf_counter() - started

    def read_back(self) -> list[np.ndarray]:
        outputs = []
        for tensor in self._facts["outputs"]:
            dtype = np.dtype(tensor["dtype"])
            size = int(np.prod(tensor["shape"], dtype=np.int64)) * dtype.itemsize
            data = self._machine.read(self._program.symbols[tensor["symbol"]], size)
            outputs.append(np.frombuffer(data, dtype).reshape(tensor["shape"]).copy())
        return outputs

    def layers(self, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        assert self._captures is not None, "the archive keeps its layers"
        self.load(inputs)
        self.run(1)
        base, seen = self._program.symbols.get("arena", 0), CapturedLayers()
        for capture in self._captures:
            seen.add(capture, self._machine.read(base + capture.offset, capture.bytes))
        return seen.complete()

    def statistics(self) -> Statistics:
        symbols = self._program.symbols
        code = symbols["tvm_pulp_code_end"] - symbols["tvm_pulp_code_begin"]
        layers = self._counts[1:]
        return Statistics(
            self._build_seconds, self._run_seconds, layer_instructions=layers, instructions=sum(layers), code_bytes=code
        )

    def program(self) -> Path | None:
        return self._path
