"""Sources of a plug-in: files of c_runtime that travel in it, engines with the C of their models."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.sim.iss.library import package_folder
from tvm_pulp.sim.iss.models import model_sources
from tvm_pulp.soc.description import Engine, Soc
from tvm_pulp.toolchain.project.template import fill
from tvm_pulp.uma.carrier import check_carrier

# Bits of an address that count in L1: aliases, of which 0 is one, differ above.
L1_MASK = 0xFFFFF


def runtime_folder() -> Path:
    """The folder in which the C sources of the runtime are installed."""
    folder = package_folder("c_runtime")
    assert folder is not None, "c_runtime is part of the package"
    return folder


def common_files(
    simulator: str, entries: Sequence[Mapping[str, Any]], libraries: Sequence[str], **page: str
) -> dict[str, bytes]:
    """Files that plug-ins for all simulators have; the entries of engines.json name the engines."""
    root, engines = runtime_folder(), [entry["name"] for entry in entries]
    names = ("array_arithmetic", "array_execute", "array_job", "job_queue", "peripheral")
    headers = [f"include/tvm_pulp/{name}.h" for name in names]
    hosted = (root / "plugins" / "common" / "hosted_model.hpp").read_bytes()
    return {name: (root / name).read_bytes() for name in headers} | {
        "src/hosted_model.hpp": hosted,
        "engines.json": (json.dumps(entries, indent=2) + "\n").encode(),
        "Makefile": filled(f"{simulator}/Makefile.in", LIBRARIES=" ".join(libraries), MODELS=_model_rules(engines)),
        "README.md": filled(f"{simulator}/README.md.in", ENGINES=", ".join(engines), **page),
    }


def filled(path: str, **values: str) -> bytes:
    """A template of c_runtime/plugins with its @NAMES@ replaced."""
    return fill((runtime_folder() / "plugins" / path).read_text(encoding="utf-8"), values).encode()


def _model_rules(engines: list[str]) -> str:
    """Rules of a Makefile for the models, one shared object each."""
    flags = "-O2 -fno-strict-aliasing -ffp-contract=off -fPIC -shared"
    return "\n".join(
        f"lib/{name}.so: $(wildcard models/{name}/*.c models/{name}/*.h)\n"
        "\tmkdir -p lib\n"
        f"\t$(CC) {flags} -Iinclude -Imodels/{name} models/{name}/*.c -o $@ -lm\n"
        for name in engines
    )


@dataclass(frozen=True)
class EngineFiles:
    """One engine of a SoC."""

    name: str
    described: Engine
    sources: dict[str, bytes]
    """C files and headers of the model by name."""


def engine_entry(soc: Soc, engine: EngineFiles) -> dict[str, Any]:
    """An engine as engines.json tells it to every simulator."""
    l1 = soc.memory.l1
    told = {"name": engine.name, "base": engine.described.base, "parameters": engine.described.parameters}
    return {**told, "l1_base": l1.base, "l1_size": l1.size, "l1_mask": L1_MASK}


def engines_of(soc: Soc, wanted: Sequence[str]) -> list[EngineFiles]:
    """The engines of a SoC, or those that are wanted; a user error where one has no model."""
    for name in wanted:
        known = ", ".join(soc.engines) or "none"
        refuse_if(name not in soc.engines, f"--engine {name}: SoC '{soc.name}' has no such engine: it has {known}")
    if not wanted and not soc.engines:
        carriers = [name for name in socs.names() if socs.load(name).engines]
        raise UserError(f"--soc {soc.name} has no engine to make a plug-in of: choose one of {', '.join(carriers)}")
    made = []
    for name in wanted or soc.engines:
        check_carrier(soc, name)
        sources = model_sources(name)
        refuse_if(not sources, f"--engine {name}: no model is installed for it: install the package of its backend")
        # Headers lie beside them.
        headers = [path for folder in dict.fromkeys(s.parent for s in sources) for path in sorted(folder.glob("*.h"))]
        contents = {path.name: path.read_bytes() for path in [*sources, *headers]}
        made.append(EngineFiles(name, soc.engines[name], contents))
    return made
