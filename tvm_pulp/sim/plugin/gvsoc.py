"""The plug-in for GVSoC: a component for all engines, one for L3, and targets that extend its Siracusa by them."""

from collections.abc import Sequence

from tvm_pulp.errors import refuse_if
from tvm_pulp.sim.gvsoc.runner import BANKS_TARGET, HAL, L3_VARIABLE, OWN_TARGET, PLUGIN_TARGET
from tvm_pulp.sim.plugin.sources import EngineFiles, common_files, engine_entry, filled, runtime_folder
from tvm_pulp.soc.description import Soc

DEFAULT_SOC = "siracusa-gvsoc"
COMPONENTS = ("peripheral", "hyperram")
# Slots of the peripheral bus.
_REGISTER_WINDOW = 0x400


def files(soc: Soc, engines: Sequence[EngineFiles]) -> dict[str, bytes]:
    """Sources, generator, targets, Makefile and a page; the models are put beside them."""
    refuse_if(
        soc.software.hal != HAL,
        f"--soc {soc.name}: GVSoC's {HAL} carries engines of SoCs of that platform only: choose --soc {DEFAULT_SOC}",
    )
    window = {"register_bytes": _REGISTER_WINDOW, "register_latency": 0, "weight_size": soc.memory.weight.size}
    entries = [{**engine_entry(soc, engine), **window, "event_line": engine.described.event_line} for engine in engines]
    sources = runtime_folder() / "plugins" / "gvsoc"
    targets = {
        "TARGET": PLUGIN_TARGET,
        "BANKS_TARGET": BANKS_TARGET,
        "OWN_TARGET": OWN_TARGET,
        "L3_VARIABLE": L3_VARIABLE,
    }
    made = common_files("gvsoc", entries, [f"lib/{engine.name}.so" for engine in engines], **targets)
    made |= {f"src/{name}.cpp": (sources / f"{name}.cpp").read_bytes() for name in COMPONENTS}
    made |= {f"tvm_pulp_{name}.py": filled(f"gvsoc/tvm_pulp_{name}.py.in") for name in COMPONENTS}
    variants = {
        PLUGIN_TARGET: "",
        BANKS_TARGET: " and L1 banks of four bytes per cycle",
        OWN_TARGET: ", as GVSoC models them itself",
    }
    for target, variant in variants.items():
        made[f"{target}.py"] = filled(
            "gvsoc/siracusa_tvm_pulp.py.in",
            BANK_CONFLICTS=str(target == BANKS_TARGET),
            OWN_MODELS=str(target == OWN_TARGET),
            L3_SIZE=f"0x{soc.memory.l3.size:x}",
            L3_VARIABLE=L3_VARIABLE,
            VARIANT=variant,
        )
    return made
