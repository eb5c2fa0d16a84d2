"""`zig cc` as a cross compiler for bare-metal 32-bit RISC-V; the default."""

from tvm_pulp.toolchain.compiler import Compiler
from tvm_pulp.toolchain.riscv_isa import FREESTANDING_FLAGS, RiscvIsa
from tvm_pulp.toolchain.zig import NO_TRAPS, zig_compiler

# zig's compiler runtime carries a megabyte of debug information, and its only switch against it drops the symbol
# table too. Sections that the caller's script places itself are not affected: the first matching rule wins.
DISCARD_DEBUG_SECTIONS = "\nSECTIONS { /DISCARD/ : { *(.debug*) *(.eh_frame) *(.eh_frame_hdr) } }\n"


def zig_riscv_compiler(isa: RiscvIsa) -> Compiler:
    """Return zig for `isa`. Division of 64-bit integers and soft float come from zig's own compiler runtime."""
    features = "".join(f"+{feature}" for feature in (*isa.extensions, "zicsr", "zifencei"))
    target = ("-target", "riscv32-freestanding-none", f"-mcpu=generic_rv32{features}", f"-mabi={isa.abi}")
    return zig_compiler(
        compile_flags=(*target, *FREESTANDING_FLAGS, "-fomit-frame-pointer", NO_TRAPS),
        link_flags=(*target, "-g0", "-rtlib=compiler-rt", "-Wl,--gc-sections"),
        script_suffix=DISCARD_DEBUG_SECTIONS,
    )
