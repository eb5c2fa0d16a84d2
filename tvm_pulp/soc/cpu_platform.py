"""A CPU as programs see it: its start-up code, linker script and kernels."""

from importlib import resources
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.soc.kernel_sources import texts_in

_SCRIPT = "link.ld.in"
_KERNELS = "kernels"


def check_cpu(soc: str, cpu: Cpu) -> None:
    """Check that programs can be built for a CPU; a user error says what its description lacks."""
    folders = sorted(e.name for e in _folder("cpu").iterdir() if e.is_dir() and e.name != _KERNELS)
    if cpu.hal and cpu.hal not in folders:
        raise UserError(f"SoC {soc}: cpu.hal names '{cpu.hal}': choose one of {', '.join(folders)}")
    known = sorted(e.name for e in _folder(f"cpu/{_KERNELS}").iterdir() if e.is_dir() and e.name != "shared")
    if cpu.kernels and cpu.kernels not in known:
        raise UserError(f"SoC {soc}: cpu.kernels names '{cpu.kernels}': choose one of {', '.join(known)}, or none")


def check_memories(soc: str, cpu: Cpu, arena: int, ends: int, constants: int) -> None:
    """Check that a network fits beside the stack; a user error says how much is missing."""
    needed = arena + ends + cpu.stack_bytes
    refuse_if(
        needed > cpu.ram.size,
        f"SoC {soc} has {cpu.ram.size} bytes of RAM and the network needs {needed}: activations {arena}, inputs and "
        f"outputs {ends}, stack {cpu.stack_bytes}; choose a SoC with more, or a smaller network",
    )
    refuse_if(
        constants > cpu.flash.size,
        f"SoC {soc} has {cpu.flash.size} bytes of flash and the network's constants need {constants}: choose a SoC "
        "with more, or a smaller network",
    )


def hal_files(cpu: Cpu) -> dict[str, str]:
    """Start-up code, linker script and the memory functions of a program without operating system."""
    if not cpu.hal:
        return {}
    suffixes = (".c", ".h", ".S")
    found = {f"hal/{path}": text for path, text in texts_in(_folder(f"cpu/{cpu.hal}"), suffixes)}
    found |= {f"libc/{path}": text for path, text in texts_in(_folder("libc"), suffixes)}
    header = "include/tvm_pulp/cpu_program.h"
    return {**found, "hal/link.ld": _linker_script(cpu), header: _folder(header).read_text(encoding="utf-8")}


def cpu_kernel_files(cpu: Cpu) -> dict[str, str]:
    """The blocked kernels of a CPU, and what they share with those of others."""
    kinds = ("shared", cpu.kernels)
    return {f"kernels/{k}/{path}": text for k in kinds for path, text in texts_in(_folder(f"cpu/{_KERNELS}/{k}"))}


def _linker_script(cpu: Cpu) -> str:
    text = _folder(f"cpu/{cpu.hal}/{_SCRIPT}").read_text(encoding="utf-8")
    for mark, value in {
        "@FLASH_BASE@": f"{cpu.flash.base:#010x}",
        "@FLASH_SIZE@": f"{cpu.flash.size:#x}",
        "@RAM_BASE@": f"{cpu.ram.base:#010x}",
        "@RAM_SIZE@": f"{cpu.ram.size:#x}",
        "@STACK@": f"{cpu.stack_bytes}",
    }.items():
        text = text.replace(mark, value)
    return text


def _folder(path: str) -> Any:
    return resources.files("c_runtime").joinpath(path)
