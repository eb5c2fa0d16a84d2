"""Write a plug-in: adapter, models, and a Makefile that builds both where the simulator's installation is found."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.output_files import write_outputs
from tvm_pulp.sim.gvsoc.installation import HEADERS, GvsocInstallation
from tvm_pulp.sim.installations import EtissInstallation
from tvm_pulp.sim.plugin import etiss, gvsoc
from tvm_pulp.sim.plugin.sources import EngineFiles, engines_of
from tvm_pulp.soc.description import Soc

# Simulator -> its SoC, and its files by path.
SIMULATORS: dict[str, tuple[str, Callable[[Soc, Sequence[EngineFiles]], dict[str, bytes]]]] = {
    "etiss": (etiss.DEFAULT_SOC, etiss.files),
    "gvsoc": (gvsoc.DEFAULT_SOC, gvsoc.files),
}


def write(simulator: str, folder: Path, soc_name: str | None, engines: Sequence[str]) -> list[str]:
    """Write the plug-in's files into a folder; returns the names of its engines."""
    default, files = SIMULATORS[simulator]
    soc = socs.load(soc_name or default)
    chosen = engines_of(soc, engines)
    made = files(soc, chosen)
    for engine in chosen:
        made |= {f"models/{engine.name}/{name}": content for name, content in engine.sources.items()}
    write_outputs(folder, made)
    return [engine.name for engine in chosen]


def find_installation(simulator: str, options: Mapping[str, str]) -> dict[str, str]:
    """Variables that the plug-in's Makefile must be told; a user error where something is missing that it needs."""
    refuse_if(
        shutil.which("make") is None,
        "--build needs `make`, which is not installed: install it, or build the folder elsewhere",
    )
    if simulator == "etiss":
        prefix = EtissInstallation.find(options, "--build", "--home").prefix
        refuse_if(
            not (prefix / "include" / "etiss" / "Plugin.h").is_file(),
            f"--build needs ETISS's headers, and {prefix} has no include/etiss: set ETISS_HOME to an install",
        )
        return {"ETISS_HOME": str(prefix)}
    found = GvsocInstallation.find(options, "--build", "--home")
    sources = found.sources()
    if sources is None:
        raise UserError(
            f"--build needs GVSoC's headers, and neither {found.home} nor its folder gvsoc has {' or '.join(HEADERS)}: "
            "set GVSOC_HOME to the checkout that was built"
        )
    return {"GVSOC_SOURCES": str(sources.resolve()), "GVSOC_INSTALL": str(found.prefix)}


def build(simulator: str, folder: Path, variables: Mapping[str, str]) -> None:
    """Run the plug-in's Makefile; a user error with the compiler's first complaint where it fails."""
    command = ["make", "-C", str(folder), *(f"{name}={value}" for name, value in variables.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no reason given")
        raise UserError(f"--build: the plug-in for {simulator} does not build ({reason[:240]}): check the installation")
