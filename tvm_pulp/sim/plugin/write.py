"""Write a plug-in: adapter, models, and a Makefile that builds both."""

from collections.abc import Callable, Sequence
from pathlib import Path

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.sim.plugin import etiss, gvsoc
from tvm_pulp.sim.plugin.engine_files import EngineFiles, engines_of
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
    try:
        for path, content in made.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise UserError(f"-o: cannot write into '{folder}': {error.strerror}") from None
    return [engine.name for engine in chosen]
