"""The plug-in for GVSoC: a component for all engines, one for L3, and two targets that extend its Siracusa by them."""

import json
from collections.abc import Sequence

from tvm_pulp.errors import UserError
from tvm_pulp.sim.gvsoc.runner import L3_VARIABLE
from tvm_pulp.sim.plugin.engine_files import EngineFiles
from tvm_pulp.sim.plugin.runtime_files import common_files, filled, model_rules, runtime_folder
from tvm_pulp.soc.description import Soc

DEFAULT_SOC = "siracusa-gvsoc"
HAL = "siracusa"
TARGET, BANKS_TARGET = "siracusa_tvm_pulp", "siracusa_tvm_pulp_banks"
COMPONENTS = ("peripheral", "hyperram")
# Slots of the peripheral bus, and bits of an address that count in L1: aliases differ above.
_REGISTER_WINDOW, _L1_MASK = 0x400, 0xFFFFF


def files(soc: Soc, engines: Sequence[EngineFiles]) -> dict[str, bytes]:
    """Sources, generator, targets, models, Makefile and a page."""
    if soc.software.hal != HAL:
        raise UserError(
            f"--soc {soc.name}: GVSoC's {HAL} carries engines of SoCs of that platform only: choose --soc {DEFAULT_SOC}"
        )
    names = [engine.name for engine in engines]
    listed = json.dumps([_entry(soc, engine) for engine in engines], indent=2) + "\n"
    sources = runtime_folder() / "plugins" / "gvsoc"
    made = common_files() | {f"src/{name}.cpp": (sources / f"{name}.cpp").read_bytes() for name in COMPONENTS}
    made |= {f"tvm_pulp_{name}.py": filled(f"gvsoc/tvm_pulp_{name}.py.in") for name in COMPONENTS}
    made |= {
        "engines.json": listed.encode(),
        "Makefile": filled(
            "gvsoc/Makefile.in", LIBRARIES=" ".join(f"lib/{name}.so" for name in names), MODELS=model_rules(names)
        ),
        "README.md": filled(
            "gvsoc/README.md.in",
            ENGINES=", ".join(names),
            TARGET=TARGET,
            BANKS_TARGET=BANKS_TARGET,
            L3_VARIABLE=L3_VARIABLE,
        ),
    }
    for target, conflicts in ((TARGET, False), (BANKS_TARGET, True)):
        made[f"{target}.py"] = filled(
            "gvsoc/siracusa_tvm_pulp.py.in",
            BANK_CONFLICTS=str(conflicts),
            L3_SIZE=f"0x{soc.memory.l3.size:x}",
            L3_VARIABLE=L3_VARIABLE,
            WITH_BANKS=" and L1 banks of four bytes per cycle" if conflicts else "",
        )
    for engine in engines:
        made |= {f"models/{engine.name}/{name}": content for name, content in engine.sources.items()}
    return made


def _entry(soc: Soc, engine: EngineFiles) -> dict[str, object]:
    return {
        "name": engine.name,
        "base": engine.described.base,
        "register_bytes": _REGISTER_WINDOW,
        "event_line": engine.described.event_line,
        "parameters": engine.described.parameters,
        "l1_base": soc.memory.l1.base,
        "l1_size": soc.memory.l1.size,
        "l1_mask": _L1_MASK,
        "weight_size": soc.memory.weight.size,
        "register_latency": 0,
    }
