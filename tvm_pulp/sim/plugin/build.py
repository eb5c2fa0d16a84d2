"""Build a plug-in where the simulator's installation is found."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tvm_pulp.errors import UserError
from tvm_pulp.sim.etiss import installation as etiss
from tvm_pulp.sim.gvsoc import installation as gvsoc


def find_installation(simulator: str, options: Mapping[str, str]) -> dict[str, str]:
    """Variables that the plug-in's Makefile must be told; a user error where something is missing that it needs."""
    if shutil.which("make") is None:
        raise UserError("--build needs `make`, which is not installed: install it, or build the folder elsewhere")
    return _VARIABLES[simulator](options)


def build(simulator: str, folder: Path, variables: Mapping[str, str]) -> None:
    """Run the plug-in's Makefile; a user error with the compiler's first complaint where it fails."""
    command = ["make", "-C", str(folder), *(f"{name}={value}" for name, value in variables.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no reason given")
        raise UserError(f"--build: the plug-in for {simulator} does not build ({reason[:240]}): check the installation")


def _gvsoc(options: Mapping[str, str]) -> dict[str, str]:
    found = gvsoc.find(options, request="--build", option="--home")
    sources = found.sources()
    if sources is None:
        raise UserError(
            f"--build needs GVSoC's headers, and {found.home} has neither core/engine/include nor "
            "gvsoc/core/engine/include: set GVSOC_HOME to the checkout that was built"
        )
    return {"GVSOC_SOURCES": str(sources.resolve()), "GVSOC_INSTALL": str(found.prefix.resolve())}


def _etiss(options: Mapping[str, str]) -> dict[str, str]:
    prefix = etiss.find(options, request="--build", option="--home").prefix
    if not (prefix / "include" / "etiss" / "Plugin.h").is_file():
        raise UserError(
            f"--build needs ETISS's headers, and {prefix} has no include/etiss: set ETISS_HOME to an install"
        )
    return {"ETISS_HOME": str(prefix)}


_VARIABLES = {"etiss": _etiss, "gvsoc": _gvsoc}
