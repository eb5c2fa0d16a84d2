"""What runners share whose simulator is somebody else's program: the executable prints its results when it ends."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.sim.iss.elf import Elf, read_elf
from tvm_pulp.sim.printed import layer_cycles, output_arrays, words
from tvm_pulp.sim.runner import Runner, Statistics
from tvm_pulp.toolchain import RiscvToolchain, ToolchainError
from tvm_pulp.toolchain.project.build_archive import build_archive

TOOLCHAINS: tuple[str, ...] = get_args(RiscvToolchain)


class PrintingRunner(Runner):
    """A subclass finds its simulator and runs it: `run` leaves what was printed in `_contents`."""

    _facts: dict[str, Any]
    _contents: dict[str, bytes]
    _elf: Path
    _program: Elf
    _inputs: list[np.ndarray]
    _inferences: int
    _build_seconds: float
    _seconds: float

    def _build_program(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None) -> None:
        started = time.perf_counter()
        try:
            chosen = cast(RiscvToolchain, toolchain or TOOLCHAINS[0])
            self._elf = build_archive(files, metadata, profile=True, toolchain=chosen)
        except ToolchainError as error:
            raise UserError(f"the archive's C does not build: {error.reason}; compile the model again") from error
        self._program = read_elf(self._elf)
        self._build_seconds = time.perf_counter() - started

    def program(self) -> Path | None:
        return self._elf

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self._inputs = list(inputs)

    def read_back(self) -> list[np.ndarray]:
        return output_arrays(self._facts, self._contents)

    def statistics(self) -> Statistics:
        every = [int(cycles) for cycles in words(self._contents, "tvm_pulp_cycles")[: self._inferences]]
        symbols = self._program.symbols
        return Statistics(
            build_seconds=self._build_seconds,
            run_seconds=self._seconds,
            cycles=every[-1],
            cold_cycles=every[0],
            inference_cycles=every,
            layer_cycles=layer_cycles(self._contents),
            code_bytes=symbols["tvm_pulp_code_end"] - symbols["tvm_pulp_code_begin"],
        )
