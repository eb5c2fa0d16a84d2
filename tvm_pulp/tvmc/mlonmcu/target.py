"""Targets `tvmpulp_<soc>`: the RUN stage, in which a program runs on a device and is measured."""

import json
import platform as machine
from pathlib import Path
from typing import Any, ClassVar

from mlonmcu.artifact import Artifact
from mlonmcu.target.metrics import Metrics
from mlonmcu.target.target import Target

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.tvmc.mlonmcu import names, options
from tvm_pulp.tvmc.mlonmcu.backend import ARCHIVE, INPUTS, OUTPUTS, SOC, file_artifact
from tvm_pulp.tvmc.mlonmcu.measure import FIGURES, REPORT, TRACE
from tvm_pulp.tvmc.mlonmcu.tool import run_tool

# Metrics of the simulator and of the compiler's estimate: shown with run.export_optional=1.
_OPTIONAL = {"Simulated Instructions", "Simulation Time [s]", "Cold Cycles", "Estimated Cycles", "Bound Cycles"}


class TvmPulpTarget(Target):
    """A SoC on one of the devices of `tvmc run`; `soc` names a description file to use in its place."""

    FEATURES: ClassVar[set[str]] = {names.TRACE_FEATURE}
    DEFAULTS: ClassVar[dict[str, Any]] = {
        "fclk": None,
        SOC: None,
        "device": None,
        "device_options": None,
        "max_cycles": None,
        "trace": False,
    }
    platform: Any = None
    config: dict[str, Any]

    def __init__(self, name: str, features: Any = None, config: dict[str, Any] | None = None) -> None:
        super().__init__(name, features=features, config=config)
        # What the base class reads and nobody can set here.
        self.config = {**Target.DEFAULTS, **self.config}
        known = names.targets()
        refuse_if(name not in known, f"target '{name}' is unknown: choose from {', '.join(known)}")
        self._soc = str(self.config[SOC] or known[name])
        self._figures: dict[str, Any] = {}

    def get_arch(self) -> str:
        """The architecture that programs are built for."""
        soc = socs.load(self._soc)
        return "riscv" if soc.simulated else (soc.cpu.machine if soc.cpu else "") or machine.machine()

    def get_backend_config(
        self, backend: str, optimized_layouts: bool = False, optimized_schedules: bool = False
    ) -> dict[str, Any]:
        """Our backends compile for this SoC; others know nothing of it."""
        return {SOC: self._soc} if backend in names.backends() else {}

    def exec(self, program: Path, *args: Any, cwd: Any = None, **kwargs: Any) -> tuple[str, list[Artifact]]:
        """Run the program beside its archive and inputs."""
        folder, home = Path(cwd), Path(program).parent
        archive = _find(home, ARCHIVE)
        if archive is None:
            raise UserError(f"target {self.name} runs programs of the tvmpulp backends: choose one of them with -b")
        inputs = _find(home, INPUTS)
        arguments = [str(archive), str(program), str(folder), *(["--inputs", str(inputs)] if inputs else [])]
        toolchain = self.platform.config.get("toolchain") if self.platform is not None else None
        for option, value in (
            ("--device", self.config["device"]),
            ("--toolchain", toolchain),
            ("--max-cycles", self.config["max_cycles"]),
        ):
            arguments += [option, str(value)] if value is not None else []
        for text in str(self.config["device_options"] or "").split(","):
            arguments += ["--device-option", text] if text else []
        if options.switch("trace", self.config["trace"]):
            arguments.append("--trace")
        said = run_tool("tvm_pulp.tvmc.mlonmcu.measure", arguments)
        self._figures = json.loads((folder / FIGURES).read_text(encoding="utf-8"))
        found = [OUTPUTS, REPORT, *([TRACE] if (folder / TRACE).is_file() else [])]
        return said, [file_artifact(folder / name) for name in found]

    def parse_stdout(self, out: str, metrics: Metrics, exit_code: int = 0) -> None:
        """The figures are in a file: nothing is read from the text."""
        for name, value in self._figures.items():
            metrics.add(name, value, name in _OPTIONAL)
        if "Runtime [s]" not in self._figures and "Total Cycles" in self._figures:
            clock = self.fclk or round(socs.load(self._soc).clock.cluster_mhz * 1e6)
            metrics.add("Runtime [s]", self._figures["Total Cycles"] / clock)


def _find(home: Path, name: str) -> Path | None:
    """A file of the run: beside the program, or in the folder of another stage (`run.stage_subdirs`)."""
    if (home / name).is_file():
        return home / name
    others = sorted(home.parent.glob(f"*/{name}")) if home.parent.name == "stages" else []
    return others[0] if others else None
