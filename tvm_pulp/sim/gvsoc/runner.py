"""Runner `gvsoc`: the cluster's program, unchanged, on the user's GVSoC."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tvm_pulp import soc
from tvm_pulp.errors import GuestFault, UserError, refuse_if
from tvm_pulp.sim.gvsoc.installation import GvsocInstallation
from tvm_pulp.sim.iss.device import EXIT_REASONS, L3_CONTENTS
from tvm_pulp.sim.plugin_engines import parameter_settings, provided_engines
from tvm_pulp.sim.printing_runner import PrintingRunner
from tvm_pulp.sim.process import Finished
from tvm_pulp.soc.same_timing import timing_settings

TARGET, PLUGIN_TARGET, BANKS_TARGET = "siracusa", "siracusa_tvm_pulp", "siracusa_tvm_pulp_banks"
# With GVSoC's own models of the plug-in's engines in their places.
OWN_TARGET = "siracusa_tvm_pulp_own"
# Engines that its own targets have.
BUILT_IN = ("neureka",)
# Presets of ours that stand beside a target.
_PLAIN = "siracusa-gvsoc"
PRESETS = {TARGET: _PLAIN, PLUGIN_TARGET: _PLAIN, OWN_TARGET: _PLAIN, BANKS_TARGET: f"{_PLAIN}-banks"}
# The platform whose programs GVSoC's Siracusa runs.
HAL = "siracusa"
# A plug-in that is built has these.
_LIBRARIES = ("lib/tvm_pulp/peripheral.so", "lib/tvm_pulp/hyperram.so")
# In the environment of a run on the plug-in's targets: a file with the contents of L3.
L3_VARIABLE = "TVM_PULP_L3"


class GvsocRunner(PrintingRunner):
    """GVSoC's Siracusa, an installation of your own: knows outputs, cycles and cycles of layers."""

    installed, hal, takes = GvsocInstallation, HAL, f"a SoC of the {HAL} platform"
    recompile = f"--soc={HAL}-gvsoc or --soc={HAL}"
    # Its engine models run at some thousand cycles per second.
    cycles_per_second = 1000.0
    way_out = "check the installation and --device-option target, or run --device iss"
    _installation: GvsocInstallation
    options: ClassVar[Mapping[str, str]] = {
        "home": "folder of the installation; default: $GVSOC_HOME",
        "target": f"GVSoC target; default: {TARGET}",
        "plugin": "folder that `tvmc plugin gvsoc --build` made: its target with its engines",
        "target_dir": "folder of the target, when it is not one of GVSoC's own",
        "timeout_s": "seconds after which a run is ended; default: by the compiler's estimate",
    }

    def _prepare(self, files: dict[str, bytes]) -> None:
        """A plug-in must be built, and bring the L3 that the archive needs."""
        self._l3 = files.get(L3_CONTENTS)
        if "f" in self._facts["march"]:
            self._check_float()
        plugin, target = self.settings.get("plugin"), self.settings.get("target", PLUGIN_TARGET)
        for name in _LIBRARIES if plugin is not None else ():
            refuse_if(
                not (Path(plugin or "") / name).is_file(),
                f"--device-option plugin={plugin}: {name} is not there: make the folder with "
                "`tvmc plugin gvsoc -o DIR --build`",
            )
        if "target_dir" not in self.settings:  # which may have any engine
            self._engines = provided_engines(self.installed.simulator, self._facts, self._soc, plugin, BUILT_IN)
        refuse_if(
            self._l3 is not None and (plugin is None or not (Path(plugin) / f"{target}.py").is_file()),
            "--device gvsoc: this archive has constants in L3, and nothing can fill the HyperRAM of GVSoC's own "
            "targets: use a target of a plug-in, which has one that can (`tvmc plugin gvsoc -o DIR --build`, then "
            "--device-option plugin=DIR), or --device iss",
        )

    def _check_float(self) -> None:
        """Float numbers need registers; with integer ends most quantized networks have none."""
        ends = {entry["dtype"] for key in ("inputs", "outputs") for entry in self._facts[key]}
        way_out = "name another with --device-option target, or run --device iss"
        if "float32" in ends:
            way_out = f"recompile with --io int8, so that its ends are integers; else {way_out}"
        reason = "the network computes with float numbers, for which"
        refuse_if(
            "target" not in self.settings and self._installation.shares_float_registers(),
            f"--device gvsoc: {reason} this GVSoC's Siracusa has no registers (sources before June 2026): {way_out}",
        )
        self.way_out = f"{reason} some Siracusa targets of GVSoC have no registers: {way_out}"

    def soc_settings(self) -> dict[str, Any]:
        """As the preset that stands beside the target; its own engine as its sources have it, others as the plug-in."""
        plugin = self.settings.get("plugin")
        target = self.settings.get("target", TARGET if plugin is None else PLUGIN_TARGET)
        if target not in PRESETS or "target_dir" in self.settings:
            return {}
        preset = soc.load(PRESETS[target])
        told = {name: dict(engine.parameters) for name, engine in preset.engines.items()}
        revision = self._installation.engine_revision()
        for parameters in told.values():
            parameters |= {"timing_revision": revision} if revision is not None else {}
        told |= {entry["name"]: entry["parameters"] for entry in self._engines}
        return timing_settings(self._soc, preset) | parameter_settings(self._soc, told)

    def _start(self, folder: Path, program: Path) -> tuple[list[str], dict[str, str]]:
        environment = self._installation.environment()
        environment.pop(L3_VARIABLE, None)
        if self._l3 is not None:
            (folder / "l3.bin").write_bytes(self._l3)
            environment[L3_VARIABLE] = str(folder / "l3.bin")
        options, plugin = self.settings, self.settings.get("plugin")
        given = [f"--target={options.get('target') or (PLUGIN_TARGET if plugin is not None else TARGET)}"]
        given += [f"--target-dir={Path(path).resolve()}" for path in (options.get("target_dir"), plugin) if path]
        given += [f"--model-dir={Path(plugin).resolve() / 'lib'}"] if plugin is not None else []
        given += [f"--work-dir={folder}", f"--binary={program}", "image", "flash", "run"]
        return [str(self._installation.program), *given], environment

    def _check_end(self, done: Finished) -> None:
        missing = re.search(r"No module named '([\w.]+)'", done.text)
        if missing is not None and done.status != 0:
            raise UserError(
                f"GVSoC's launcher needs the Python package '{missing[1]}', which no python3 has that was looked at: "
                f"install it for that of PATH, or make an environment {self._installation.home}/.venv that has it"
            )

    def _check_status(self, status: int) -> None:
        if status in EXIT_REASONS:
            raise GuestFault(f"exit code {status} on GVSoC: {EXIT_REASONS[status]}")
