"""`riscv64-unknown-elf-gcc` as a cross compiler for bare-metal 32-bit RISC-V."""

import os
import shutil
from pathlib import Path

from tvm_pulp.errors import UserError
from tvm_pulp.toolchain.compiler import Compiler, describe_driver
from tvm_pulp.toolchain.riscv_isa import FREESTANDING_FLAGS, RiscvIsa

VARIABLE = "TVM_PULP_RISCV_GCC"
DEFAULT_NAME = "riscv64-unknown-elf-gcc"


def find_riscv_gcc() -> str:
    """Return the absolute path of the compiler: $TVM_PULP_RISCV_GCC if set, else the one on PATH."""
    wanted = os.environ.get(VARIABLE)
    found = shutil.which(wanted or DEFAULT_NAME)
    if found is None and wanted:
        raise UserError(f"{VARIABLE} names '{wanted}', which is not an executable: correct it or unset it")
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
