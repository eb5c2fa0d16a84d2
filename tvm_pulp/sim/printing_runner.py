"""The common part of runners that start another simulator: the executable prints its results when it ends."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast, get_args

import numpy as np

from tvm_pulp import soc
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.sim.image import NothingPrinted, layer_cycles, make_image, output_arrays, parse_contents, words
from tvm_pulp.sim.installations import Installation
from tvm_pulp.sim.iss.elf import Elf, read_elf
from tvm_pulp.sim.process import Finished, last_lines, limit_seconds, run_simulator
from tvm_pulp.sim.runner import Capabilities, Runner, Statistics
from tvm_pulp.soc.description import Soc
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.toolchain import RiscvToolchain, build_of_archive
from tvm_pulp.toolchain.project.build_archive import build_archive

TOOLCHAINS: tuple[str, ...] = get_args(RiscvToolchain)


class PrintingRunner(Runner):
    """A subclass says which simulator it is, which archives it takes and how a run is started."""

    installed: ClassVar[type[Installation]]
    cycles_per_second: ClassVar[float]
    hal: ClassVar[str]
    """The platform whose programs it runs; `takes` says so in words, and `recompile` how to get one."""
    takes: ClassVar[str]
    recompile: ClassVar[str]
    capabilities = Capabilities(cycles=True, layer_cycles=True, toolchains=TOOLCHAINS)
    way_out: str = "check the installation, or run --device iss"
    """Advice after a run without results."""
    _facts: dict[str, Any]
    _soc: Soc
    _contents: dict[str, bytes]
    _elf: Path
    _program: Elf
    _inputs: list[np.ndarray]
    _inferences: int
    _build_seconds: float
    _seconds: float

    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        device = f"--device {self.installed.simulator.lower()}"
        self._installation = self.installed.find(self.settings, device)
        self._facts = metadata["tvm_pulp"]
        self._limit = limit_seconds(self.settings, self._facts, self.cycles_per_second)
        self._soc = soc.recorded(self._facts)
        refuse_if(
            self._soc.software.hal != self.hal,
            f"{device} runs archives compiled for {self.takes}, not for '{self._facts['soc']}': recompile with "
            f"{self.recompile}",
        )
        self._prepare(files)
        started = time.perf_counter()
        with build_of_archive():
            chosen = cast(RiscvToolchain, toolchain or TOOLCHAINS[0])
            self._elf = build_archive(files, metadata, profile=True, toolchain=chosen)
        self._program = read_elf(self._elf)
        self._build_seconds = time.perf_counter() - started

    def run(self, inferences: int) -> None:
        self._inferences = inferences
        image = make_image(self._program, self._facts, self._inputs, inferences)
        with TemporaryFolder() as folder:
            (folder / "program.elf").write_bytes(image)
            command, environment = self._start(folder, folder / "program.elf")
            done = run_simulator(
                self.installed.simulator, command, folder=folder, environment=environment, limit_seconds=self._limit
            )
        self._seconds = done.seconds
        self._check_end(done)
        try:
            self._contents = parse_contents(done.text)
        except NothingPrinted as problem:
            self._check_status(done.status)
            raise UserError(
                f"{self.installed.simulator} ended with status {done.status} before the program told its results "
                f"({problem}){last_lines(done.text)}: {self.way_out}"
            ) from None

    def _prepare(self, files: dict[str, bytes]) -> None:
        """Hook: options and files of the archive that a run needs; a user error where they do not fit."""

    @abstractmethod
    def _start(self, folder: Path, program: Path) -> tuple[list[str], dict[str, str]]:
        """Command and environment of a run; further files may be put into the folder."""

    def _check_end(self, done: Finished) -> None:
        """Hook: a failure that the program printed."""

    def _check_status(self, status: int) -> None:
        """Hook: a failure that the exit status of a run without results tells."""

    def program(self) -> Path | None:
        return self._elf

    def revision(self) -> str | None:
        return self._installation.revision()

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self._inputs = list(inputs)

    def read_back(self) -> list[np.ndarray]:
        return output_arrays(self._facts, self._contents)

    def statistics(self) -> Statistics:
        every = [int(cycles) for cycles in words(self._contents, "tvm_pulp_cycles")[: self._inferences]]
        return Statistics(
            build_seconds=self._build_seconds,
            run_seconds=self._seconds,
            cycles=every[-1],
            cold_cycles=every[0],
            inference_cycles=every,
            layer_cycles=layer_cycles(self._contents),
            code_bytes=self._program.code_bytes,
        )
