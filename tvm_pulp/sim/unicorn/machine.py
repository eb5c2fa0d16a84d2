"""An emulated core with flat memory, and its instructions by layer."""

import ctypes
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tvm_pulp.plug_ins import needed
from tvm_pulp.sim.cpu_runner import Stopped
from tvm_pulp.sim.iss.elf import Elf
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.toolchain import build_host_library

# Registers of the processor itself: start-up code may switch units on.
_SYSTEM, _SYSTEM_BYTES = 0xE000E000, 0x1000
_HOST_CALL, _HOST_EXIT = 0xBEAB, 0x20


class _Counter(ctypes.Structure):
    """`struct counter` of count_blocks.c."""

    _fields_ = [
        ("layer", ctypes.c_void_p),
        ("code", ctypes.c_void_p),
        ("code_base", ctypes.c_uint64),
        ("code_bytes", ctypes.c_uint64),
        ("known", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("layers", ctypes.c_uint32),
        ("previous", ctypes.c_uint32),
    ]


def emulator() -> Any:
    """The package; a user error says how to install it."""
    way_out = "pip install 'tvm_pulp[cortex-m]', or compile with --soc=host"
    return needed("unicorn", f"--device unicorn needs the package unicorn: {way_out}")


@cache
def _count_function() -> Any:
    source = Path(__file__).parent / "count_blocks.c"
    library = ctypes.CDLL(
        str(build_host_library([source], [], extra_flags=("-std=c11", "-Wall", "-Wextra", "-Werror")))
    )
    return ctypes.cast(library.tvm_pulp_count_block, ctypes.c_void_p)


class UnicornMachine:
    """A core with a program in its memories. `layers`: how many it may name."""

    def __init__(self, program: Elf, cpu: Cpu, layers: int) -> None:
        self._program, self._cpu, self._layers = program, cpu, layers
        regions = (cpu.flash, cpu.ram)
        self._memories = {r.base: ctypes.create_string_buffer(r.size) for r in regions}
        for segment in program.segments:
            if any(r.base <= segment.address < r.base + r.size for r in regions):
                self.write(segment.address, segment.data)

    def _place(self, address: int) -> tuple[Any, int]:
        """The memory that holds an address, and the offset there."""
        for base, memory in self._memories.items():
            if base <= address < base + len(memory):
                return memory, address - base
        raise Stopped(f"address {address:#010x} is in no memory of the core")

    def write(self, address: int, data: bytes) -> None:
        if data:
            memory, offset = self._place(address)
            ctypes.memmove(ctypes.addressof(memory) + offset, data, len(data))

    def read(self, address: int, count: int) -> bytes:
        memory, offset = self._place(address)
        return bytes(memory.raw[offset : offset + count]) if count > 1 << 16 else memory[offset : offset + count]

    def run(self) -> list[int]:
        """From reset to the end; instructions of the last inference by layer, those outside of it first."""
        package = emulator()
        from unicorn import arm_const

        modes = package.UC_MODE_THUMB | package.UC_MODE_MCLASS
        core = package.Uc(package.UC_ARCH_ARM, modes)
        core.ctl_set_cpu_model(getattr(arm_const, f"UC_CPU_ARM_{self._cpu.devices['unicorn']}"))
        for base, memory in self._memories.items():
            core.mem_map_ptr(base, len(memory), package.UC_PROT_ALL, ctypes.addressof(memory))
        core.mem_map(_SYSTEM, _SYSTEM_BYTES)
        ended: list[int] = []
        hook = core.hook_add(package.UC_HOOK_INTR, self._host_call(arm_const, ended))
        counts = (ctypes.c_uint64 * (self._layers + 1))()
        kept = self._count(package, core, counts)
        stack, start = (int.from_bytes(self.read(self._cpu.flash.base + at, 4), "little") for at in (0, 4))
        core.reg_write(arm_const.UC_ARM_REG_SP, stack)
        try:
            core.emu_start(start | 1, 0xFFFFFFFE)
        except package.UcError as error:
            at = core.reg_read(arm_const.UC_ARM_REG_PC)
            where = self._program.nearest(at) or f"{at:#010x}"
            raise Stopped(f"{re.sub(r' .UC_ERR.*', '', str(error)).lower()} in {where}") from None
        finally:
            core.hook_del(hook)  # the package's own record of it holds the emulator
        del kept
        if ended != [0]:
            raise Stopped(f"exit status {ended[0]}" if ended else "it ended without a status")
        return list(counts)

    def close(self) -> None:
        """Give its memories back."""
        self._memories = {}

    def _host_call(self, registers: Any, ended: list[int]) -> Callable[..., None]:
        """The answer to a breakpoint of semihosting: the only call is the one that ends the program."""

        def called(core: Any, *_event: Any) -> None:
            at = core.reg_read(registers.UC_ARM_REG_PC)
            number, block = (core.reg_read(r) for r in (registers.UC_ARM_REG_R0, registers.UC_ARM_REG_R1))
            if int.from_bytes(self.read(at, 2), "little") == _HOST_CALL and number == _HOST_EXIT:
                ended.append(int.from_bytes(self.read(block + 4, 4), "little"))
            core.emu_stop()

        return called

    def _count(self, package: Any, core: Any, counts: Any) -> Any:
        """Count from here on; what is returned must live as long as the run."""
        from unicorn.unicorn_py3.unicorn import uclib

        flash = self._cpu.flash
        code = self._memories[flash.base]
        known = (ctypes.c_uint32 * (flash.size // 2))()
        memory, offset = self._place(self._program.symbols["tvm_pulp_layer"])
        counter = _Counter(
            ctypes.addressof(memory) + offset,
            ctypes.addressof(code),
            flash.base,
            flash.size,
            ctypes.addressof(known),
            ctypes.addressof(counts),
            len(counts),
            0,
        )
        handle = ctypes.c_size_t()
        status = uclib.uc_hook_add(
            core._uch,
            ctypes.byref(handle),
            package.UC_HOOK_BLOCK,
            _count_function(),
            ctypes.cast(ctypes.pointer(counter), ctypes.c_void_p),
            1,
            0,
        )
        if status != package.UC_ERR_OK:
            raise Stopped(f"the emulator refuses to count (status {status})")
        return counter, known
