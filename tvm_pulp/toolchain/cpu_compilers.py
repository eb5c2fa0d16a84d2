"""The packaged compiler for CPUs, and the executable of an archive for one."""

from collections.abc import Mapping
from pathlib import Path

from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.toolchain.build import compile_objects, link_objects
from tvm_pulp.toolchain.compiler import Compiler
from tvm_pulp.toolchain.cpu_flags import CPU_FLAGS, ENTRY, WARNINGS
from tvm_pulp.toolchain.project.build_archive import sources_of
from tvm_pulp.toolchain.project.unpack import unpack
from tvm_pulp.toolchain.riscv_compilers import DISCARD_DEBUG_SECTIONS
from tvm_pulp.toolchain.zig import NO_TRAPS, zig_compiler


def cpu_compiler(cpu: Cpu) -> Compiler:
    """The compiler with the flags of a CPU; memory functions are the program's own, arithmetic the compiler's."""
    return zig_compiler(
        compile_flags=(*cpu.zig, *CPU_FLAGS, NO_TRAPS),
        link_flags=(*cpu.zig, "-g0", NO_TRAPS, "-rtlib=compiler-rt", "-Wl,--gc-sections", f"-Wl,--entry={ENTRY}"),
        script_suffix=DISCARD_DEBUG_SECTIONS,
    )


def build_cpu_elf(files: Mapping[str, bytes], cpu: Cpu) -> Path:
    """The executable of an archive, in the cache; it notes which layer it computes."""
    flags = [*WARNINGS, "-DTVM_PULP_PROFILE"]
    with TemporaryFolder() as folder:
        unpack(files, folder)
        sources, headers, script = sources_of(folder)
        compiler = cpu_compiler(cpu)
        return link_objects(
            compile_objects(sources, headers, flags, compiler), [], compiler, suffix=".elf", script=script
        )
