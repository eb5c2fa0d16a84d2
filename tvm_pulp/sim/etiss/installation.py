"""Where ETISS is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tvm_pulp.errors import UserError

VARIABLE = "ETISS_HOME"
PROCESSOR = "bare_etiss_processor"
_PLACES = (f"bin/{PROCESSOR}", f"install/bin/{PROCESSOR}", f"build/bin/{PROCESSOR}")


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
    looked: list[str] = []
    for origin, folder in ((option, options.get("home")), (f"${VARIABLE}", os.environ.get(VARIABLE))):
        if not folder:
            looked.append(f"{origin} is not set")
            continue
        home = Path(folder).expanduser()
        for place in _PLACES:
            if (home / place).is_file():
                return Installation((home / place).resolve())
        looked.append(f"{origin} is {folder}, where {', '.join(_PLACES)} are not")
    on_path = shutil.which(PROCESSOR)
    if on_path is not None:
        return Installation(Path(on_path).resolve())
    raise UserError(
        f"{request} needs an installation of ETISS, and there is none: {'; '.join(looked)}; PATH has no "
        f"{PROCESSOR}: build ETISS and set {VARIABLE} or {option}=DIR"
    )
