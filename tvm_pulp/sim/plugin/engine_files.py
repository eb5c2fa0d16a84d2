"""Files of an engine that a plug-in needs: its entry of the SoC description and the C sources of its model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.sim.iss.models import model_sources
from tvm_pulp.soc.description import Engine, Soc


@dataclass(frozen=True)
class EngineFiles:
    """One engine of a SoC."""

    name: str
    described: Engine
    sources: dict[str, bytes]
    """C files and headers of the model by name."""


def engines_of(soc: Soc, wanted: Sequence[str]) -> list[EngineFiles]:
    """The engines of a SoC, or those that are wanted; a user error where one has no model."""
    for name in wanted:
        if name not in soc.engines:
            known = ", ".join(soc.engines) or "none"
            raise UserError(f"--engine {name}: SoC '{soc.name}' has no such engine: it has {known}")
    chosen = list(wanted) or list(soc.engines)
    if not chosen:
        carriers = [name for name in socs.names() if socs.load(name).engines]
        raise UserError(f"--soc {soc.name} has no engine to make a plug-in of: choose one of {', '.join(carriers)}")
    made = []
    for name in chosen:
        sources = model_sources(name)
        if not sources:
            raise UserError(f"--engine {name}: no model is installed for it: install the package of its backend")
        made.append(EngineFiles(name, soc.engines[name], _contents(sources)))
    return made


def _contents(sources: Sequence[Path]) -> dict[str, bytes]:
    """Sources, and the headers that lie beside them."""
    folders = list(dict.fromkeys(path.parent for path in sources))
    headers = [path for folder in folders for path in sorted(folder.glob("*.h"))]
    return {path.name: path.read_bytes() for path in [*sources, *headers]}
