"""The installation of GVSoC, and its revision."""

import os
import subprocess
from pathlib import Path

from tvm_pulp.sim.installations import Installation


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
        theirs = [str(self.home / name / "bin") for name in (".venv", "venv")]
        kept["PATH"] = os.pathsep.join([*(place for place in theirs if (Path(place) / "python3").exists()), *folders])
        return kept

    def sources(self) -> Path | None:
        """The checkout that it was built from, where it lies beside: headers are there."""
        places = (self.home / name for name in (".", "gvsoc"))
        return next((place for place in places if (place / "core" / "engine" / "include" / "vp").is_dir()), None)

    def revision(self) -> str | None:
        """Commits of the parts that decide about timing; None where no sources lie beside the installation."""
        root = self.sources()
        if root is None:
            return None
        found = {part or "gvsoc": _commit(root / part) for part in ("", "core", "pulp")}
        return " ".join(f"{part} {commit}" for part, commit in found.items() if commit) or None


def _commit(folder: Path) -> str:
    """The short commit of a checkout, with the number of locally changed files where there are some."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    if not (folder / ".git").exists():
        return ""
    changed = len(git("status", "--porcelain", "--untracked-files=no", "--ignore-submodules").splitlines())
    return git("rev-parse", "--short", "HEAD") + (f"+{changed}" if changed else "")
