"""A CPU as programs see it: its start-up code, linker script and kernels."""

from importlib import resources
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.soc.cpu import AddressRange, Cpu
from tvm_pulp.soc.kernel_sources import texts_in

_SCRIPT = "link.ld.in"
_KERNELS = "kernels"
# What the C of language models and of debug builds asks of a machine.
_ONE_CORE = "one_core"
# Variables of the start-up code, and what sections are filled up with.
_PROGRAM = 64


def check_cpu(soc: str, cpu: Cpu) -> None:
    """Check that programs can be built for a CPU; a user error says what its description lacks."""
    folders = sorted(e.name for e in _folder("cpu").iterdir() if e.is_dir() and e.name not in (_KERNELS, _ONE_CORE))
    if cpu.hal and cpu.hal not in folders:
        raise UserError(f"SoC {soc}: cpu.hal names '{cpu.hal}': choose one of {', '.join(folders)}")
    known = sorted(e.name for e in _folder(f"cpu/{_KERNELS}").iterdir() if e.is_dir() and e.name != "shared")
    if cpu.kernels and cpu.kernels not in known:
        raise UserError(f"SoC {soc}: cpu.kernels names '{cpu.kernels}': choose one of {', '.join(known)}, or none")


def check_limits(soc: str, cpu: Cpu | None, ram: int | None, flash: int | None) -> None:
    """Check limits that a user states against the memories of a CPU."""
    places = (cpu.ram, cpu.flash) if cpu is not None else (AddressRange(), AddressRange())
    stated = (("--ram", ram, places[0], "RAM"), ("--flash", flash, places[1], "flash"))
    for option, limit, place, name in stated:
        refuse_if(limit is not None and limit < 1, f"{option} {limit}: at least one byte is needed")
        refuse_if(
            limit is not None and place.size and limit > place.size,
            f"{option} {limit}: SoC {soc} has {place.size} bytes of {name}",
        )
    refuse_if(
        flash is not None and not (cpu and cpu.hal),
        f"--flash has no effect on --soc {soc}, whose programs lie in files: drop it",
    )


def check_threads(soc: str, cpu: Cpu | None, threads: int | None) -> None:
    """Check that a system with threads runs the programs of a CPU."""
    refuse_if(
        threads is not None and cpu is not None and "host" not in cpu.devices,
        f"--threads has no effect on --soc {soc}, which has one core: drop it",
    )


def ram_beside(cpu: Cpu | None, limit: int | None, ends: int) -> int | None:
    """RAM that inputs, outputs and the stack leave for activations; None where nothing limits it."""
    if limit is None and (cpu is None or not cpu.hal):
        return None
    stack, size = (cpu.stack_bytes, cpu.ram.size) if cpu is not None and cpu.hal else (0, limit or 0)
    return (size if limit is None else limit) - ends - stack - (_PROGRAM if stack else 0)


def check_memories(soc: str, cpu: Cpu | None, arena: int, ends: int, constants: int, limit: int | None = None) -> None:
    """Check that a network fits beside the stack; a user error says how much is missing."""
    alone = cpu is not None and bool(cpu.hal)
    ram, stack = (cpu.ram.size, cpu.stack_bytes) if cpu is not None and alone else (limit, 0)
    needed = arena + ends + stack + (_PROGRAM if alone else 0)
    has = f"SoC {soc} has {ram} bytes of RAM" if limit is None else f"--ram {limit} is too little"
    stated = f", stack {stack}" if stack else ""
    refuse_if(
        ram is not None and needed > (ram if limit is None else limit),
        f"{has}: the least that this network was found to need is {needed}: activations {arena}, inputs and outputs "
        f"{ends}{stated}; {'choose a SoC with more' if limit is None else 'allow as much'}, or a smaller network",
    )
    if cpu is None or not alone:
        return
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


def one_core_header() -> str:
    """`tvm_pulp/hal.h` of a machine that is one core with one memory."""
    return str(_folder(f"cpu/{_ONE_CORE}/hal.h").read_text(encoding="utf-8"))


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
