"""The installation of GVSoC, and its revision."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tvm_pulp.sim.installed_program import InstalledProgram

# A build puts the launcher there, seen from the folder that the variable names.
_LAUNCHERS = ("install/bin/gvsoc", "bin/gvsoc")
_GVSOC = InstalledProgram(
    simulator="GVSoC",
    name="gvsoc",
    variable="GVSOC_HOME",
    places=_LAUNCHERS,
    absent=f"neither {' nor '.join(_LAUNCHERS)} is",
    advice="build GVSoC with its Siracusa target",
)
# Its sources are there; these parts of it decide about timing.
_SOURCES = (".", "gvsoc")
_PARTS = ("", "core", "pulp")


@dataclass(frozen=True)
class Installation:
    """A GVSoC that can be started."""

    home: Path
    launcher: Path

    @property
    def prefix(self) -> Path:
        """The folder that holds `bin`, `models` and `generators`."""
        return self.launcher.parent.parent

    def environment(self) -> dict[str, str]:
        """The user's environment without our own Python in front of GVSoC's."""
        kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
        own = os.environ.get("VIRTUAL_ENV")
        folders = [entry for entry in kept.get("PATH", "").split(os.pathsep) if own is None or not _is_in(entry, own)]
        kept.pop("VIRTUAL_ENV", None)
        for name in ("venv", ".venv"):
            if (self.home / name / "bin" / "python3").exists():
                folders.insert(0, str(self.home / name / "bin"))
        kept["PATH"] = os.pathsep.join(folders)
        return kept

    def sources(self) -> Path | None:
        """The checkout that it was built from, where it lies beside: headers are there."""
        for name in _SOURCES:
            if (self.home / name / "core" / "engine" / "include" / "vp").is_dir():
                return self.home / name
        return None

    def revision(self) -> str | None:
        """Commits of the sources that lie beside the installation; None where there are none."""
        root = self.sources()
        if root is None:
            return None
        found = {part or "gvsoc": _commit(root / part) for part in _PARTS}
        return " ".join(f"{part} {commit}" for part, commit in found.items() if commit) or None


def find(
    options: Mapping[str, str], *, request: str = "--device gvsoc", option: str = "--device-option home"
) -> Installation:
    """The installation that the option, $GVSOC_HOME or the path names; a user error that says where it looked."""
    home, launcher = _GVSOC.find(options, request, option)
    prefix = launcher.parent.parent
    return Installation(home or (prefix.parent if prefix.name == "install" else prefix), launcher)


def _is_in(entry: str, folder: str) -> bool:
    return Path(entry).resolve().is_relative_to(Path(folder).resolve())


def _commit(folder: Path) -> str:
    """The short commit of a checkout, with the number of locally changed files where there are some."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    if not (folder / ".git").exists():
        return ""
    changed = len(git("status", "--porcelain", "--untracked-files=no", "--ignore-submodules").splitlines())
    return git("rev-parse", "--short", "HEAD") + (f"+{changed}" if changed else "")
