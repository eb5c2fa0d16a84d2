"""Runner `gvsoc`: the cluster's program, unchanged, on the user's GVSoC."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tvm_pulp import soc
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.gvsoc.installation import Installation, find
from tvm_pulp.sim.image import make_image
from tvm_pulp.sim.iss.device import EXIT_REASONS, L3_CONTENTS
from tvm_pulp.sim.printed import NothingPrinted, parse_contents
from tvm_pulp.sim.printing_runner import TOOLCHAINS, PrintingRunner
from tvm_pulp.sim.process import last_lines, limit_seconds, run_simulator
from tvm_pulp.sim.runner import Capabilities

TARGET, PLUGIN_TARGET = "siracusa", "siracusa_tvm_pulp"
# The platform whose programs GVSoC's Siracusa runs.
HAL = "siracusa"
# What makes a folder a plug-in that is built.
_LIBRARIES = ("lib/tvm_pulp/peripheral.so", "lib/tvm_pulp/hyperram.so")
# In the environment of a run on the plug-in's targets: a file with the contents of L3.
L3_VARIABLE = "TVM_PULP_L3"
# Its engine models run at some thousand cycles per second.
_CYCLES_PER_SECOND = 1000.0


class GvsocRunner(PrintingRunner):
    """GVSoC's Siracusa, an installation of your own: knows outputs, cycles and cycles of layers."""

    capabilities: ClassVar[Capabilities] = Capabilities(cycles=True, layer_cycles=True, toolchains=TOOLCHAINS)
    options: ClassVar[Mapping[str, str]] = {
        "home": "folder of the installation; default: $GVSOC_HOME",
        "target": f"GVSoC target; default: {TARGET}",
        "plugin": "folder that `tvmc plugin gvsoc --build` made: its target with its engines",
        "target_dir": "folder of the target, when it is not one of GVSoC's own",
        "timeout_s": "seconds after which a run is ended; default: by the compiler's estimate",
    }

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
        self._l3 = files.get(L3_CONTENTS)
        self._check_plugin()
        self._build_program(files, metadata, toolchain)

    def _check_plugin(self) -> None:
        """Whether it is built, and brings the L3 that the archive needs."""
        plugin, target = self.settings.get("plugin"), self.settings.get("target", PLUGIN_TARGET)
        for name in _LIBRARIES if plugin is not None else ():
            if not (Path(plugin or "") / name).is_file():
                raise UserError(
                    f"--device-option plugin={plugin}: {name} is not there: make the folder with "
                    "`tvmc plugin gvsoc -o DIR --build`"
                )
        if self._l3 is not None and (plugin is None or not (Path(plugin) / f"{target}.py").is_file()):
            raise UserError(
                "--device gvsoc: this archive has constants in L3, and nothing can fill the HyperRAM of GVSoC's own "
                "targets: use a target of a plug-in, which has one that can (`tvmc plugin gvsoc -o DIR --build`, then "
                "--device-option plugin=DIR), or --device iss"
            )

    def revision(self) -> str | None:
        return self._installation.revision()

    def run(self, inferences: int) -> None:
        image = make_image(self._program, self._facts, self._inputs, inferences)
        self._inferences = inferences
        folder = Path(tempfile.mkdtemp(prefix="tvm_pulp_gvsoc_"))
        try:
            binary = folder / "program.elf"
            binary.write_bytes(image)
            environment = self._installation.environment()
            environment.pop(L3_VARIABLE, None)
            if self._l3 is not None:
                (folder / "l3.bin").write_bytes(self._l3)
                environment[L3_VARIABLE] = str(folder / "l3.bin")
            done = run_simulator(
                "GVSoC",
                self._command(binary),
                folder=folder,
                environment=environment,
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
        way_out = "check the installation and --device-option target, or run --device iss"
        if "f" in self._facts["march"]:
            way_out = (
                "the network computes with float numbers, for which some Siracusa targets of GVSoC have no registers: "
                "name another with --device-option target, or run --device iss"
            )
        return UserError(
            f"GVSoC ended with status {status} before the program told its results ({problem}){last_lines(text)}: "
            f"{way_out}"
        )
