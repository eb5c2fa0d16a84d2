"""Building for this machine and for RISC-V."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tvm_pulp import soc
from tvm_pulp.toolchain import (
    Architecture,
    RiscvToolchain,
    ToolchainError,
    build_host_library,
    build_host_program,
    build_riscv_elf,
)
from tvm_pulp.toolchain.cpu_compilers import cpu_compiler
from tvm_pulp.toolchain.riscv_compilers import DEFAULT_NAME, RISCV_ISAS, zig_riscv_compiler
from tvm_pulp.toolchain.zig import NO_TRAPS

LINKER_SCRIPT = """
ENTRY(_start)
MEMORY { RAM (rwx) : ORIGIN = 0x1c000000, LENGTH = 0x100000 }
SECTIONS {
  .text : { KEEP(*(.text.start)) *(.text*) } > RAM
  .data : { *(.rodata*) *(.srodata*) *(.sdata*) *(.data*) } > RAM
  .bss : { *(.sbss*) *(.bss*) *(COMMON) } > RAM
}
"""

# 64-bit division and double arithmetic are not instructions of either architecture: the run-time library must
# bring them. The CSR and fence instructions need extensions that -march does not name.
PROGRAM = """
#include <stdint.h>
extern int32_t from_assembly(int32_t x);
volatile int64_t wide;
volatile double fraction;
volatile float number;
int32_t never_used(int32_t x);
int32_t never_used(int32_t x) { return x * 12345; }
void main_loop(void);
void main_loop(void) {
  uint32_t hart;
  __asm__ volatile("csrr %0, mhartid\\n\\tfence.i" : "=r"(hart));
  wide = wide / (int64_t)(hart + 3u);
  fraction = fraction * 2.5 + (double)number;
  number = number * 2.5f + (float)from_assembly(1);
  for (;;) {
  }
}
"""

ASSEMBLY = """
#define STEP 42
  .section .text.start, "ax"
  .globl _start
_start:
  j main_loop
  .text
  .globl from_assembly
from_assembly:
  addi a0, a0, STEP
  ret
"""


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty build cache, so that something is compiled in every run."""
    monkeypatch.setenv("TVM_PULP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write(folder: Path, **files: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = []
    for name, text in files.items():
        paths.append(folder / name.replace("_dot_", "."))
        paths[-1].write_text(text)
    return paths


def test_library_is_callable_and_sees_headers_and_defines(tmp_path: Path, own_cache: Path) -> None:
    (header, source) = write(
        tmp_path / "source",
        scale_dot_h="#define SCALE 3\n",
        lib_dot_c='#include "scale.h"\nint scaled(int x);\nint scaled(int x) { return x * SCALE + OFFSET; }\n',
    )
    library = build_host_library([source], [header.parent], defines=["OFFSET=4"])
    assert ctypes.CDLL(str(library)).scaled(5) == 19


def test_library_with_a_missing_function_is_refused_when_it_is_built(tmp_path: Path, own_cache: Path) -> None:
    (source,) = write(tmp_path, a_dot_c="int missing_one(void);\nint f(void);\nint f(void) { return missing_one(); }\n")
    with pytest.raises(ToolchainError, match="missing_one"):
        build_host_library([source], [])


def test_program_runs(tmp_path: Path, own_cache: Path) -> None:
    (source,) = write(tmp_path, main_dot_c='#include <stdio.h>\nint main(void) { puts("hello"); return 7; }\n')
    finished = subprocess.run([build_host_program([source], [])], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout) == (7, "hello\n")


def test_sanitizer_stops_a_program_that_overflows(tmp_path: Path, own_cache: Path) -> None:
    code = "int main(int argc, char **argv) { (void)argv; return (argc + 2147483647) & 1; }\n"
    (source,) = write(tmp_path, main_dot_c=code)
    plain = subprocess.run([build_host_program([source], [])], capture_output=True, check=False)
    checked = subprocess.run([build_host_program([source], [], sanitize=True)], capture_output=True, check=False)
    assert plain.returncode in (0, 1)
    assert b"overflow" in checked.stderr
    assert checked.returncode != 0


@pytest.mark.slow  # An empty cache makes zig build a C start-up library.
def test_zig_is_the_host_compiler_where_there_is_no_other(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    # The user's zig cache saves building a C start-up library for every run of this test.
    monkeypatch.delenv("TVM_PULP_CACHE")
    (source,) = write(tmp_path, a_dot_c=f"int f(void);\nint f(void) {{ return 99; }}\n/* {tmp_path} */\n")
    assert ctypes.CDLL(str(build_host_library([source], []))).f() == 99


def test_error_carries_command_and_compiler_output(tmp_path: Path, own_cache: Path) -> None:
    (source,) = write(tmp_path, broken_dot_c="int f(void) { return undeclared_name; }\n")
    with pytest.raises(ToolchainError, match="undeclared_name") as caught:
        build_host_library([source], [])
    assert str(source) in caught.value.command


@pytest.mark.parametrize("toolchain", ["zig", "gcc"])
@pytest.mark.parametrize(("march", "float_abi"), [("rv32imc", 0), ("rv32imfc", 2)])
def test_riscv_elf(tmp_path: Path, toolchain: RiscvToolchain, march: Architecture, float_abi: int) -> None:
    """Both compilers link run-time library calls, assembly and our script, for both ABIs."""
    if toolchain == "gcc" and shutil.which(DEFAULT_NAME) is None:
        pytest.skip(f"{DEFAULT_NAME} is not on PATH (Debian: apt install gcc-riscv64-unknown-elf)")
    # The comment makes the sources new, so that the objects are not taken from the user's cache; the cache itself
    # is the user's, because zig needs about ten seconds to build its run-time library once.
    program, assembly, script = write(
        tmp_path, main_dot_c=f"/* {tmp_path} */{PROGRAM}", start_dot_S=ASSEMBLY, link_dot_ld=LINKER_SCRIPT
    )
    elf = build_riscv_elf([program, assembly], [], script, march=march, toolchain=toolchain)
    with elf.open("rb") as stream:
        image = ELFFile(stream)
        assert (image["e_machine"], image.elfclass, image["e_entry"]) == ("EM_RISCV", 32, 0x1C000000)
        # Bits 1 and 2 of the flags hold the float ABI, bit 0 says that compressed instructions are used.
        assert image["e_flags"] & 0x7 == float_abi | 1
        symbols = {symbol.name: symbol["st_value"] for symbol in image.get_section_by_name(".symtab").iter_symbols()}
        sections = {section.name for section in image.iter_sections()}
    assert symbols["_start"] == 0x1C000000
    assert "main_loop" in symbols and "__divdi3" in symbols and "__muldf3" in symbols
    # Soft float only where the architecture has none.
    assert ("__mulsf3" in symbols) == (march == "rv32imc")
    assert "never_used" not in symbols, "unused functions are dropped by the linker"
    assert not any(name.startswith(".debug") for name in sections)


def test_zig_makes_no_library_of_checks_that_nothing_calls() -> None:
    """It takes seconds for every kind of core that is linked for."""
    cpu = soc.load("cortex-m4").cpu
    assert cpu is not None
    compilers = [*map(zig_riscv_compiler, RISCV_ISAS.values()), cpu_compiler(cpu)]
    assert [NO_TRAPS in compiler.link_flags for compiler in compilers] == [True] * 4
