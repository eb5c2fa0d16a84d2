"""The plug-in for ETISS: one memory-mapped peripheral per engine, on one core with flat memory."""

import json
from collections.abc import Sequence

from tvm_pulp.errors import refuse_if
from tvm_pulp.sim.etiss.ini import engine_sections
from tvm_pulp.sim.plugin.sources import L1_MASK, EngineFiles, common_files, filled, model_rules, runtime_folder
from tvm_pulp.soc.description import Soc

DEFAULT_SOC = "rv32-mcu"
HAL = "mcu"


def files(soc: Soc, engines: Sequence[EngineFiles]) -> dict[str, bytes]:
    """Sources, Makefile and a page; the models are put beside them."""
    refuse_if(
        soc.software.hal != HAL, f"--soc {soc.name}: ETISS has one core and flat memory: choose --soc {DEFAULT_SOC}"
    )
    names = [engine.name for engine in engines]
    entries = [
        {
            "name": engine.name,
            "base": engine.described.base,
            "parameters": engine.described.parameters,
            "l1_base": soc.memory.l1.base,
            "l1_size": soc.memory.l1.size,
            "l1_mask": L1_MASK,
        }
        for engine in engines
    ]
    libraries = [f"lib/PluginImpl/libtvm_pulp_{name}.so lib/{name}.so" for name in names]
    sections = engine_sections(entries, "THIS_FOLDER", blocking=False).strip()
    return common_files() | {
        "src/peripheral.cpp": (runtime_folder() / "plugins" / "etiss" / "peripheral.cpp").read_bytes(),
        "engines.json": (json.dumps(entries, indent=2) + "\n").encode(),
        "Makefile": filled("etiss/Makefile.in", LIBRARIES=" ".join(libraries), MODELS=model_rules(names)),
        "README.md": filled("etiss/README.md.in", ENGINES=", ".join(names), INI=sections),
    }
