"""The installation of GVSoC, and its revision."""

import os
import re
import subprocess
from pathlib import Path

from tvm_pulp.sim.installations import Installation

# A package that the launcher imports and that no Python has by itself.
LAUNCHER_PACKAGE = "prettytable"
# Headers of its engine in a checkout: since mid 2026 it is a part of its own.
HEADERS = ("core/engine/include", "engine/engine/include")
_BEFORE_APRIL, _SINCE_APRIL = 202603, 202604
# Cores whose float numbers lie in integer registers.
_SHARED_CORES = "import pulp.cpu.iss.pulp_cores"


class GvsocInstallation(Installation):
    """A GVSoC with its Siracusa target."""

    simulator, executable, variable = "GVSoC", "gvsoc", "GVSOC_HOME"
    places = ("install/bin/gvsoc", "bin/gvsoc")
    absent, advice = f"neither {' nor '.join(places)} is", "build GVSoC with its Siracusa target"

    @property
    def home(self) -> Path:
        """The folder that was named, or that holds the installation."""
        return self.named or (self.prefix.parent if self.prefix.name == "install" else self.prefix)

    def environment(self) -> dict[str, str]:
        """The user's environment without our own Python in front of GVSoC's."""
        left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        kept = {key: value for key, value in os.environ.items() if key not in left_out}
        folders, own = kept.get("PATH", "").split(os.pathsep), os.environ.get("VIRTUAL_ENV")
        if own is not None:
            folders = [entry for entry in folders if not Path(entry).resolve().is_relative_to(Path(own).resolve())]
        theirs = [self.home / name / "bin" for name in (".venv", "venv")]
        ours = [Path(own) / "bin"] if own is not None else []
        first = next((str(place) for place in [*theirs, *map(Path, folders), *ours] if _has_packages(place)), None)
        first = first or next((str(place) for place in theirs if (place / "python3").exists()), None)
        kept["PATH"] = os.pathsep.join([*([first] if first else []), *folders])
        return kept

    def sources(self) -> Path | None:
        """The checkout that it was built from, where it lies beside: headers are there."""
        places = (self.home / name for name in (".", "gvsoc"))
        return next((p for p in places if any((p / headers / "vp").is_dir() for headers in HEADERS)), None)

    def revision(self) -> str | None:
        """Commits of the parts that decide about timing; None where no sources lie beside the installation."""
        root = self.sources()
        if root is None:
            return None
        found = {part or "gvsoc": _commit(root / part) for part in ("", "core", "engine", "pulp")}
        commits = " ".join(f"{part} {commit}" for part, commit in found.items() if commit)
        timing = self.engine_revision()
        return ", ".join(filter(None, (commits, f"its engine's cycles of {timing}" if timing else None))) or None

    def engine_revision(self) -> int | None:
        """`timing_revision` of our engine that counts as the one that was built; None where sources do not tell."""
        text = self._source("pulp/neureka/src/neureka_fsm.cpp")
        if text is None:
            return None
        return _SINCE_APRIL if re.search(r"matrixvec_latency\s*\+=\s*10\b", text) else _BEFORE_APRIL

    def shares_float_registers(self) -> bool:
        """Tell if its cores certainly keep float numbers in integer registers: sources before June 2026, unchanged."""
        root, text = self.sources(), self._source("pulp/chips/siracusa/cluster.py")
        return root is not None and text is not None and _SHARED_CORES in text and "+" not in _commit(root / "pulp")

    def _source(self, path: str) -> str | None:
        """A file of its part `pulp`; None where it is not there."""
        root = self.sources()
        place = root / "pulp" / path if root is not None else None
        return place.read_text(encoding="utf-8", errors="replace") if place is not None and place.is_file() else None


def _has_packages(folder: Path) -> bool:
    """Tell if the Python in a folder has what the launcher imports."""
    python = folder / "python3"
    if not python.is_file():
        return False
    return (
        subprocess.run([python, "-c", f"import {LAUNCHER_PACKAGE}"], capture_output=True, check=False).returncode == 0
    )


def _commit(folder: Path) -> str:
    """The short commit of a checkout, with the number of locally changed files where there are some."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    if not (folder / ".git").exists():
        return ""
    changed = len(git("status", "--porcelain", "--untracked-files=no", "--ignore-submodules").splitlines())
    return git("rev-parse", "--short", "HEAD") + (f"+{changed}" if changed else "")
