"""The RISC-V instruction sets we build for, and their cross compilers: `zig cc`, the default, and GNU's."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.soc.core_kinds import Architecture
from tvm_pulp.toolchain.compiler import Compiler, describe_driver
from tvm_pulp.toolchain.zig import NO_TRAPS, zig_compiler

# -ffp-contract=off: float results must not depend on whether the core has fused multiply-add.
FREESTANDING_FLAGS = (
    "-O2",
    "-g0",
    "-std=gnu11",
    "-ffreestanding",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-strict-aliasing",
    "-fno-asynchronous-unwind-tables",
    "-ffp-contract=off",
)


@dataclass(frozen=True)
class RiscvIsa:
    """One architecture string and the one ABI that goes with it: objects of two ABIs do not link."""

    architecture: str
    abi: str
    extensions: tuple[str, ...]

    @property
    def zig(self) -> tuple[str, ...]:
        """Arguments of zig that name it."""
        features = "".join(f"+{feature}" for feature in (*self.extensions, "zicsr", "zifencei"))
        return "-target", "riscv32-freestanding-none", f"-mcpu=generic_rv32{features}", f"-mabi={self.abi}"


RISCV_ISAS = {
    "rv32imc": RiscvIsa("rv32imc", "ilp32", ("m", "c")),
    # ilp32f, not ilp32: gcc has no 32-bit libraries for F instructions with soft-float calls.
    "rv32imfc": RiscvIsa("rv32imfc", "ilp32f", ("m", "f", "c")),
    "rv32ima": RiscvIsa("rv32ima", "ilp32", ("m", "a")),
}
assert set(RISCV_ISAS) == set(get_args(Architecture))


# zig's compiler runtime carries a megabyte of debug information, and its only switch against it drops the symbol
# table too. Sections that the caller's script places itself are not affected: the first matching rule wins.
DISCARD_DEBUG_SECTIONS = "\nSECTIONS { /DISCARD/ : { *(.debug*) *(.eh_frame) *(.eh_frame_hdr) } }\n"


def zig_riscv_compiler(isa: RiscvIsa) -> Compiler:
    """Return zig for `isa`. Division of 64-bit integers and soft float come from zig's own compiler runtime."""
    return zig_compiler(
        compile_flags=(*isa.zig, *FREESTANDING_FLAGS, "-fomit-frame-pointer", NO_TRAPS),
        link_flags=(*isa.zig, "-g0", NO_TRAPS, "-rtlib=compiler-rt", "-Wl,--gc-sections"),
        script_suffix=DISCARD_DEBUG_SECTIONS,
    )


VARIABLE = "TVM_PULP_RISCV_GCC"
DEFAULT_NAME = "riscv64-unknown-elf-gcc"


def find_riscv_gcc() -> str:
    """Return the absolute path of the compiler: $TVM_PULP_RISCV_GCC if set, else the one on PATH."""
    wanted = os.environ.get(VARIABLE)
    found = shutil.which(wanted or DEFAULT_NAME)
    refuse_if(
        found is None and wanted, f"{VARIABLE} names '{wanted}', which is not an executable: correct it or unset it"
    )
    if found is None:
        raise UserError(
            f"{DEFAULT_NAME} is not on PATH: install it (Debian: gcc-riscv64-unknown-elf), "
            f"set {VARIABLE} to its path, or use the toolchain 'zig'"
        )
    return str(Path(found).absolute())


def riscv_gcc_compiler(isa: RiscvIsa) -> Compiler:
    """Return gcc for `isa`. Division of 64-bit integers and soft float come from libgcc."""
    gcc = find_riscv_gcc()
    version, identity = describe_driver((gcc,), "--version")
    abi = f"-mabi={isa.abi}"
    return Compiler(
        name="gcc",
        command=(gcc,),
        version=version,
        identity=identity,
        # The assembler wants the control-register extensions spelled out; the linker must not see them, because
        # gcc then finds no matching library variant and falls back to the 64-bit one.
        compile_flags=(f"-march={isa.architecture}_zicsr_zifencei", abi, *FREESTANDING_FLAGS),
        link_flags=(
            f"-march={isa.architecture}",
            abi,
            "-nostdlib",
            "-nostartfiles",
            "-static",
            "-Wl,--gc-sections",
            "-Wl,--no-warn-rwx-segments",
            "-Wl,--build-id=none",
            # libgcc comes with debug information; the symbol table stays.
            "-Wl,--strip-debug",
        ),
        libraries=("-lgcc",),
    )
