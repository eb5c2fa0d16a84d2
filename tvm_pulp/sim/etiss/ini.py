"""Ini files of ETISS: the machine, the program, the engines."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.soc.description import Soc

# Each instruction adds this to the guest's time; only the ratio counts.
CYCLE_TIME_PS = 10000


def machine_ini(soc: Soc, program: Path, statistics: Path, plugins: Path | None) -> str:
    """One core, the SoC's memories, semihosting; plug-ins from a folder that holds PluginImpl."""
    texts: dict[str, object] = {"vp.elf_file": program, "vp.stats_file_path": statistics}
    texts |= {"arch.cpu": "RV32IMACFD", "jit.type": "TCCJIT"}
    if plugins is not None:
        texts["etiss_wd"] = plugins
    numbers = {"etiss.loglevel": 3, "arch.cpu_cycle_time_ps": CYCLE_TIME_PS}
    for index, memory in enumerate((soc.memory.l2, soc.memory.l1)):
        # The program's file says nothing of memory that it does not fill.
        texts[f"simple_mem_system.memseg_mode_{index:02}"] = "RWX"
        numbers[f"simple_mem_system.memseg_origin_{index:02}"] = memory.base
        numbers[f"simple_mem_system.memseg_length_{index:02}"] = memory.size
    booleans = {"arch.enable_semihosting": "true", "jit.verify": "false", "jit.debug": "false"}
    lines = ["[StringConfigurations]", *(f"{key}={value}" for key, value in texts.items())]
    lines += ["[BoolConfigurations]", *(f"{key}={value}" for key, value in booleans.items())]
    lines += ["[IntConfigurations]", *(f"{key}={_number(value)}" for key, value in numbers.items())]
    return "\n".join(lines) + "\n"


def engine_sections(entries: Sequence[Mapping[str, Any]], folder: str, *, blocking: bool) -> str:
    """A section for each engine of a plug-in's engines.json."""
    lines = []
    for entry in entries:
        name = f"tvm_pulp_{entry['name']}"
        values = {
            "library": f"{folder}/lib/{entry['name']}.so",
            "parameters": ",".join(f"{key}={value}" for key, value in entry["parameters"].items()),
            "base": f"0x{entry['base']:x}",
            "l1_base": f"0x{entry['l1_base']:x}",
            "l1_size": f"0x{entry['l1_size']:x}",
            "l1_mask": f"0x{entry['l1_mask']:x}",
            "blocking": str(blocking).lower(),
        }
        lines.append(f"[Plugin {name}]")
        lines += [f"plugin.{name}.{key}={value}" for key, value in values.items() if value]
    return "\n".join(lines) + "\n"


def _number(value: int) -> str:
    return f"0x{value:x}" if value > 0xFFFF else str(value)
