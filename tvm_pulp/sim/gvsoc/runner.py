"""Runner `gvsoc`: the cluster's program, unchanged, on the user's GVSoC."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast, get_args

import numpy as np

from tvm_pulp import soc
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.project.build_archive import build_archive
from tvm_pulp.sim.gvsoc.installation import Installation, find
from tvm_pulp.sim.image import make_image
from tvm_pulp.sim.iss.device import EXIT_REASONS, L3_CONTENTS
from tvm_pulp.sim.iss.elf import read_elf
from tvm_pulp.sim.printed import NothingPrinted, layer_cycles, output_arrays, parse_contents, words
from tvm_pulp.sim.process import last_lines, limit_seconds, run_simulator
from tvm_pulp.sim.runner import Capabilities, Runner, Statistics
from tvm_pulp.toolchain import RiscvToolchain, ToolchainError

TOOLCHAINS: tuple[str, ...] = get_args(RiscvToolchain)
TARGET, PLUGIN_TARGET = "siracusa", "siracusa_tvm_pulp"
# The platform whose programs GVSoC's Siracusa runs.
HAL = "siracusa"
# Its engine models run at some thousand cycles per second.
_CYCLES_PER_SECOND = 1000.0


class GvsocRunner(Runner):
    """GVSoC's Siracusa, an installation of your own: knows outputs, cycles and cycles of layers."""

    capabilities: ClassVar[Capabilities] = Capabilities(cycles=True, layer_cycles=True, toolchains=TOOLCHAINS)
    options: ClassVar[Mapping[str, str]] = {
        "home": "folder of the installation; default: $GVSOC_HOME",
        "target": f"GVSoC target; default: {TARGET}",
        "plugin": "folder that `tvmc plugin gvsoc --build` made: its target with its engines",
        "target_dir": "folder of the target, when it is not one of GVSoC's own",
        "timeout_s": "seconds after which a run is ended; default: by the compiler's estimate",
    }
    _contents: dict[str, bytes]

    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        self._installation: Installation = find(self.settings)
        self._limit = limit_seconds(self.settings, metadata["tvm_pulp"], _CYCLES_PER_SECOND)
        self._facts = metadata["tvm_pulp"]
        described = None if self._facts["soc"] == "host" else soc.recorded(self._facts)
        if described is None or described.software.hal != HAL:
            raise UserError(
                f"--device gvsoc runs archives compiled for a SoC of the {HAL} platform, not for "
                f"'{self._facts['soc']}': recompile with --soc={HAL}-gvsoc or --soc={HAL}"
            )
        if L3_CONTENTS in files:
            raise UserError(
                "--device gvsoc cannot fill L3, which this archive needs for its constants, as GVSoC has no way to "
                "preload its HyperRAM: use --device iss, or a network that fits into L2 and the weight memory"
            )
        plugin = self.settings.get("plugin")
        if plugin is not None and not (Path(plugin) / "lib" / "tvm_pulp" / "peripheral.so").is_file():
            raise UserError(
                f"--device-option plugin={plugin}: lib/tvm_pulp/peripheral.so is not there: make the folder with "
                "`tvmc plugin gvsoc -o DIR --build`"
            )
        chosen = cast(RiscvToolchain, toolchain or TOOLCHAINS[0])
        started = time.perf_counter()
        try:
            self._elf = build_archive(files, metadata, profile=True, toolchain=chosen)
        except ToolchainError as error:
            raise UserError(f"the archive's C does not build: {error.reason}; compile the model again") from error
        self._program = read_elf(self._elf)
        self._build_seconds = time.perf_counter() - started

    def program(self) -> Path | None:
        return self._elf

    def revision(self) -> str | None:
        return self._installation.revision()

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self._inputs = list(inputs)

    def run(self, inferences: int) -> None:
        image = make_image(self._program, self._facts, self._inputs, inferences)
        self._inferences = inferences
        folder = Path(tempfile.mkdtemp(prefix="tvm_pulp_gvsoc_"))
        try:
            binary = folder / "program.elf"
            binary.write_bytes(image)
            done = run_simulator(
                "GVSoC",
                self._command(binary),
                folder=folder,
                environment=self._installation.environment(),
                limit_seconds=self._limit,
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self._seconds = done.seconds
        try:
            self._contents = parse_contents(done.text)
        except NothingPrinted as problem:
            raise self._failure(done.text, done.status, str(problem)) from None

    def _command(self, binary: Path) -> list[str]:
        launcher, options = str(self._installation.launcher.resolve()), self.settings
        target, folders = options.get("target"), [options.get("target_dir")]
        models: list[Path] = []
        if "plugin" in options:
            plugin = Path(options["plugin"]).resolve()
            target = target or PLUGIN_TARGET
            folders.append(str(plugin))
            models.append(plugin / "lib")
        given = [f"--target={target or TARGET}"]
        given += [f"--target-dir={Path(folder).resolve()}" for folder in folders if folder]
        given += [f"--model-dir={folder}" for folder in models]
        return [launcher, *given, f"--work-dir={binary.parent}", f"--binary={binary}", "image", "flash", "run"]

    def _failure(self, text: str, status: int, problem: str) -> Exception:
        reason = EXIT_REASONS.get(status)
        if reason is not None:
            return GuestFault(f"exit code {status} on GVSoC: {reason}")
        return UserError(
            f"GVSoC ended with status {status} before the program told its results ({problem}){last_lines(text)}: "
            "check the installation and --device-option target, or run --device iss"
        )

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
