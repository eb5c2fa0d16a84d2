"""The installation of ETISS."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tvm_pulp.sim.installed_program import InstalledProgram

PROCESSOR = "bare_etiss_processor"
_PLACES = tuple(f"{folder}/{PROCESSOR}" for folder in ("bin", "install/bin", "build/bin"))
_ETISS = InstalledProgram(
    simulator="ETISS",
    name=PROCESSOR,
    variable="ETISS_HOME",
    places=_PLACES,
    absent=f"{', '.join(_PLACES)} are not",
    advice="build ETISS",
)


@dataclass(frozen=True)
class Installation:
    """An ETISS that can be started."""

    processor: Path

    @property
    def prefix(self) -> Path:
        """The folder that holds `bin`, `include` and `lib`."""
        return self.processor.parent.parent

    def environment(self) -> dict[str, str]:
        """Its libraries are found."""
        library = str(self.prefix / "lib")
        known = os.environ.get("LD_LIBRARY_PATH")
        return {**os.environ, "LD_LIBRARY_PATH": f"{library}{os.pathsep}{known}" if known else library}

    def revision(self) -> str | None:
        """The version that its CMake files state; None where they are not installed."""
        for path in sorted(self.prefix.glob("lib/CMake/ETISS/ETISSConfigVersion.cmake")):
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.strip().lower().startswith("set(package_version ") and '"' in line:
                    return f"etiss {line.split(chr(34))[1]}"
        return None


def find(
    options: Mapping[str, str], *, request: str = "--device etiss", option: str = "--device-option home"
) -> Installation:
    """The installation that the option, $ETISS_HOME or the path names; a user error that says where it looked."""
    return Installation(_ETISS.find(options, request, option)[1].resolve())
