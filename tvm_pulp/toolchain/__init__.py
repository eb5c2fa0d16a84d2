"""Compilers, building and the build cache."""

from tvm_pulp.soc.core_kinds import Architecture
from tvm_pulp.toolchain.build import (
    RiscvToolchain,
    build_host_library,
    build_host_program,
    build_riscv_elf,
    compile_objects,
    link_objects,
)
from tvm_pulp.toolchain.cache import cache_directory, cached_file, digest_of
from tvm_pulp.toolchain.compiler import Compiler, ToolchainError, build_of_archive
from tvm_pulp.toolchain.host_cc import host_compiler

__all__ = [
    "Architecture",
    "Compiler",
    "RiscvToolchain",
    "ToolchainError",
    "build_host_library",
    "build_host_program",
    "build_of_archive",
    "build_riscv_elf",
    "cache_directory",
    "cached_file",
    "compile_objects",
    "digest_of",
    "host_compiler",
    "link_objects",
]
