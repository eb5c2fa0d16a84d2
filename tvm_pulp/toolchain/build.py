"""Sources to a shared library, a program or a bare-metal ELF: one process per translation unit, then one link."""

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

from tvm_pulp.soc.core_kinds import Architecture
from tvm_pulp.toolchain.cache import cached_file, digest_of
from tvm_pulp.toolchain.compiler import Compiler
from tvm_pulp.toolchain.host_cc import host_compiler
from tvm_pulp.toolchain.includes import IncludeReader
from tvm_pulp.toolchain.riscv_compilers import RISCV_ISAS, RiscvIsa, riscv_gcc_compiler, zig_riscv_compiler
from tvm_pulp.toolchain.zig import NO_TRAPS

RiscvToolchain = Literal["zig", "gcc"]
RISCV_COMPILERS: dict[str, Callable[[RiscvIsa], Compiler]] = {"zig": zig_riscv_compiler, "gcc": riscv_gcc_compiler}


def compile_objects(
    sources: Sequence[Path], include_dirs: Sequence[Path], flags: Sequence[str], compiler: Compiler
) -> list[Path]:
    """Compile C (.c) and assembly (.S) sources and return one object per source, in order."""
    hidden = [flag for flag in flags if flag.startswith(("-I", "-i", "@"))]
    if hidden:
        raise ValueError(f"the cache does not see what {hidden} brings in: use include_dirs")

    reader = IncludeReader(include_dirs)

    def compile_one(source: Path) -> Path:
        contents = reader.read(source)
        key = digest_of(
            ["object", compiler.identity, *compiler.compile_flags, "--", *flags, "--"]
            + [part for name, text in contents for part in (name, text)]
        )

        def produce(output: Path) -> None:
            # The prefix map keeps folder names out of __FILE__, as the key keeps them out of the cache.
            arguments = [*compiler.compile_flags, *flags, *(f"-I{folder}" for folder in include_dirs)]
            arguments += [f"-ffile-prefix-map={source.parent}=.", "-c", str(source), "-o", str(output)]
            compiler.run(arguments)

        return cached_file(key, ".o", produce)

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(compile_one, sources))


def link_objects(
    objects: Sequence[Path], flags: Sequence[str], compiler: Compiler, *, suffix: str, script: Path | None = None
) -> Path:
    """Link objects, with a linker script if given, into one cached file."""
    script_text = "" if script is None else script.read_text(encoding="utf-8") + compiler.script_suffix
    # An object's file name in the cache is the digest of all that went into it.
    names = [path.name for path in objects]
    fixed = [*compiler.link_flags, "--", *flags, "--", *compiler.libraries]
    key = digest_of(["link", compiler.identity, *fixed, "--", script_text, *names])

    def write_script(output: Path) -> None:
        output.write_text(script_text, encoding="utf-8")

    def produce(output: Path) -> None:
        arguments = [*compiler.link_flags, *flags]
        if script is not None:
            arguments += [f"-L{script.parent}", f"-Wl,-T,{cached_file(digest_of([script_text]), '.ld', write_script)}"]
        compiler.run([*arguments, *(str(path) for path in objects), *compiler.libraries, "-o", str(output)])
        output.chmod(0o755)

    return cached_file(key, suffix, produce)


def _define_flags(defines: Sequence[str]) -> list[str]:
    return [f"-D{define}" for define in defines]


def _with_sanitizers(compiler: Compiler, sanitizers: Sequence[str]) -> Compiler:
    """Return the compiler with run-time checks that end the process at the first finding."""
    flags = (f"-fsanitize={','.join(sanitizers)}", "-fno-sanitize-recover=all")
    kept = tuple(flag for flag in compiler.compile_flags if flag != NO_TRAPS)
    return replace(compiler, compile_flags=(*kept, *flags), link_flags=(*compiler.link_flags, *flags))


def build_host_library(
    sources: Sequence[Path],
    include_dirs: Sequence[Path],
    *,
    defines: Sequence[str] = (),
    extra_flags: Sequence[str] = (),
    sanitize: bool = False,
    undefined: bool = False,
) -> Path:
    """Build freestanding C into a shared library for this machine and return its path in the cache.

    Equal sources give the same file, and a process that loads one file twice shares its static data: load a copy
    where that matters. `sanitize` adds checks for undefined behaviour (address checks need a program of their own).
    `undefined`: whoever loads it brings functions that it calls.
    """
    compiler = host_compiler()
    link_flags = ["-shared"]
    if sanitize:
        compiler = _with_sanitizers(compiler, ["undefined"])
    elif sys.platform == "linux" and not undefined:
        # A missing function is an error now, not when the library is loaded.
        link_flags.append("-Wl,-z,defs")
    flags = ["-fPIC", "-ffreestanding", *_define_flags(defines), *extra_flags]
    return link_objects(compile_objects(sources, include_dirs, flags, compiler), link_flags, compiler, suffix=".so")


def build_host_program(
    sources: Sequence[Path],
    include_dirs: Sequence[Path],
    *,
    defines: Sequence[str] = (),
    extra_flags: Sequence[str] = (),
    sanitize: bool = False,
) -> Path:
    """Build C with a `main` into a program for this machine and return its path in the cache.

    `sanitize` adds checks for undefined behaviour and, where the compiler has them (zig has not), for addresses.
    """
    compiler = host_compiler()
    if sanitize:
        compiler = _with_sanitizers(compiler, ["undefined"] if compiler.name == "zig" else ["address", "undefined"])
    flags = [*_define_flags(defines), *extra_flags]
    return link_objects(compile_objects(sources, include_dirs, flags, compiler), ["-lm"], compiler, suffix=".exe")


def build_riscv_elf(
    sources: Sequence[Path],
    include_dirs: Sequence[Path],
    linker_script: Path,
    *,
    march: Architecture,
    toolchain: RiscvToolchain = "zig",
    defines: Sequence[str] = (),
    extra_flags: Sequence[str] = (),
) -> Path:
    """Build freestanding C and assembly into a bare-metal ELF and return its path in the cache.

    The ABI follows from `march`: ilp32 for rv32imc, ilp32f for rv32imfc. A later -O in `extra_flags` wins.
    """
    compiler = RISCV_COMPILERS[toolchain](RISCV_ISAS[march])
    objects = compile_objects(sources, include_dirs, [*_define_flags(defines), *extra_flags], compiler)
    return link_objects(objects, [], compiler, suffix=".elf", script=linker_script)
