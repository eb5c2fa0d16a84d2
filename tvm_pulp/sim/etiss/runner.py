"""Runner `etiss`: the program of a microcontroller on the user's ETISS."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tvm_pulp import soc
from tvm_pulp.errors import GuestFault, refuse_if
from tvm_pulp.sim.etiss.ini import engine_sections, machine_ini
from tvm_pulp.sim.installations import EtissInstallation
from tvm_pulp.sim.iss.device import EXIT_REASONS
from tvm_pulp.sim.plugin_engines import parameter_settings, provided_engines
from tvm_pulp.sim.printing_runner import PrintingRunner
from tvm_pulp.sim.process import Finished
from tvm_pulp.soc.same_timing import timing_settings

SOC, HAL = "rv32-mcu", "mcu"


class EtissRunner(PrintingRunner):
    """ETISS, an installation of your own: one core whose instructions take one cycle each; knows outputs and cycles."""

    installed, hal, takes, recompile = EtissInstallation, HAL, "one core with flat memory", f"--soc={SOC}"
    # It runs some million instructions per second.
    cycles_per_second = 500_000.0
    options: ClassVar[Mapping[str, str]] = {
        "home": "folder of the installation; default: $ETISS_HOME",
        "plugin": "folder that `tvmc plugin etiss --build` made; needed where the network runs on an engine",
        "blocking": "true: the core stands still while an engine works; default: false, it polls",
        "timeout_s": "seconds after which a run is ended; default: by the compiler's estimate",
    }

    def _prepare(self, files: dict[str, bytes]) -> None:
        given = self.settings.get("blocking", "false")
        refuse_if(given not in ("true", "false"), f"--device-option blocking={given}: choose true or false")
        self._blocking = given == "true"
        refuse_if(
            self._blocking and "plugin" not in self.settings,
            "--device-option blocking has no effect without plugin: drop it",
        )
        self._engines = self._read_engines()

    def soc_settings(self) -> dict[str, Any]:
        """One instruction takes one cycle; engines are as the plug-in has them."""
        told = {entry["name"]: entry["parameters"] for entry in self._engines}
        return timing_settings(self._soc, soc.load(SOC)) | parameter_settings(self._soc, told)

    def _read_engines(self) -> list[dict[str, Any]]:
        """Entries of the plug-in's engines; a user error where the network needs one that is not there."""
        folder = self.settings.get("plugin")
        entries = provided_engines(self.installed.simulator, self._facts, self._soc, folder)
        for entry in entries:
            refuse_if(
                not (Path(str(folder)) / "lib" / "PluginImpl" / f"libtvm_pulp_{entry['name']}.so").is_file(),
                f"--device-option plugin={folder} is not built: run `make` there, or tvmc plugin --build",
            )
        return entries

    def _start(self, folder: Path, program: Path) -> tuple[list[str], dict[str, str]]:
        given = self.settings.get("plugin")
        plugin = Path(given).resolve() if given is not None else None
        text = machine_ini(self._soc, program, folder / "statistics.json", plugin / "lib" if plugin else None)
        text += engine_sections(self._engines, str(plugin), blocking=self._blocking) if self._engines else ""
        (folder / "run.ini").write_text(text, encoding="utf-8")
        return [str(self._installation.program), f"-i{folder / 'run.ini'}"], self._installation.environment()

    def _check_end(self, done: Finished) -> None:
        code = re.search(r"^exit ([1-9])$", done.text, re.MULTILINE)
        if code is not None:
            reason = EXIT_REASONS.get(int(code[1]), "the program reports a failure of its own")
            raise GuestFault(f"exit code {code[1]} on ETISS: {reason}")
