"""The plug-in for ETISS: one memory-mapped peripheral per engine, on one core with flat memory."""

from collections.abc import Sequence

from tvm_pulp.errors import refuse_if
from tvm_pulp.sim.etiss.ini import engine_sections
from tvm_pulp.sim.plugin.sources import EngineFiles, common_files, engine_entry, runtime_folder
from tvm_pulp.soc.description import Soc

DEFAULT_SOC = "rv32-mcu"
HAL = "mcu"


def files(soc: Soc, engines: Sequence[EngineFiles]) -> dict[str, bytes]:
    """Sources, Makefile and a page; the models are put beside them."""
    refuse_if(
        soc.software.hal != HAL, f"--soc {soc.name}: ETISS has one core and flat memory: choose --soc {DEFAULT_SOC}"
    )
    entries = [engine_entry(soc, engine) for engine in engines]
    libraries = [f"lib/PluginImpl/libtvm_pulp_{engine.name}.so lib/{engine.name}.so" for engine in engines]
    sections = engine_sections(entries, "THIS_FOLDER", blocking=False).strip()
    source = (runtime_folder() / "plugins" / "etiss" / "peripheral.cpp").read_bytes()
    return common_files("etiss", entries, libraries, INI=sections) | {"src/peripheral.cpp": source}
