"""The float32 mathematics gives the same bits on the host and on both RISC-V architectures."""

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest
import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import riscv_const

from tvm_pulp.toolchain import Architecture, RiscvToolchain, build_host_library, build_riscv_elf
from tvm_pulp.toolchain.riscv_compilers import DEFAULT_NAME

COUNT = 512
INPUT = 0x80100000
OUTPUT = 0x80200000

UNARY = ("expf", "logf", "tanhf", "erff", "sinf", "cosf", "sqrtf", "rsqrtf")
ROUNDING = ("floorf", "ceilf", "truncf", "roundf", "nearbyintf", "fabsf")
BINARY = ("powf", "fmodf")
FUNCTIONS = UNARY + ROUNDING + BINARY

DRIVER = """
#include <stddef.h>
#include "tvm_pulp_math.h"
void evaluate(const float *x, float *out, size_t count);
void evaluate(const float *x, float *out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float y = x[(i * 7 + 3) % count];
CALLS
  }
}
"""

START = """
  .section .text.start, "ax"
  .globl _start
_start:
  li sp, 0x80400000
  li a0, 0x80100000
  li a1, 0x80200000
  li a2, 512
  jal evaluate
  .globl finished
finished:
  j finished
"""

LINKER_SCRIPT = """
ENTRY(_start)
SECTIONS { . = 0x80000000; .text : { KEEP(*(.text.start)) *(.text*) } .data : { *(.rodata*) *(.srodata*) *(.data*) } }
"""


def driver_source() -> str:
    lines = []
    for index, name in enumerate(FUNCTIONS):
        arguments = "x[i], y" if name in BINARY else "x[i]"
        lines.append(f"    out[{index} * count + i] = tvm_pulp_{name}({arguments});")
    return DRIVER.replace("CALLS", "\n".join(lines))


def inputs() -> np.ndarray:
    generator = np.random.default_rng(3)
    patterns = generator.integers(0, 2**32, COUNT // 4, dtype=np.uint32).view(np.float32)
    usual = generator.normal(0, 3, COUNT - patterns.size - 8).astype(np.float32)
    corners = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 0.5, -2.5], np.float32)
    return np.concatenate([patterns, usual, corners])


def run_on_host(folder: Path, driver: Path, x: np.ndarray) -> np.ndarray:
    library = ctypes.CDLL(str(build_host_library([*sorted(folder.glob("*.c")), driver], [folder])))
    out = np.zeros((len(FUNCTIONS), COUNT), np.float32)
    arguments = (ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(out.ctypes.data), ctypes.c_size_t(COUNT))
    library.evaluate(*arguments)
    return out


def run_on_riscv(elf: Path, x: np.ndarray) -> np.ndarray:
    machine = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
    machine.mem_map(0x80000000, 0x400000)
    # Bits 13 and 14 of mstatus switch the float registers on.
    machine.reg_write(riscv_const.UC_RISCV_REG_MSTATUS, machine.reg_read(riscv_const.UC_RISCV_REG_MSTATUS) | 0x6000)
    with elf.open("rb") as stream:
        image = ELFFile(stream)
        for segment in image.iter_segments("PT_LOAD"):
            machine.mem_write(segment["p_vaddr"], segment.data())
        (finished,) = image.get_section_by_name(".symtab").get_symbol_by_name("finished")
        machine.mem_write(INPUT, x.tobytes())
        machine.emu_start(image["e_entry"], finished["st_value"], count=100_000_000)
    assert machine.reg_read(riscv_const.UC_RISCV_REG_PC) == finished["st_value"], "the program did not end"
    return np.frombuffer(bytes(machine.mem_read(OUTPUT, len(FUNCTIONS) * COUNT * 4)), np.float32).reshape(-1, COUNT)


@pytest.mark.sample(1)
@pytest.mark.parametrize("toolchain", ["zig", "gcc"])
@pytest.mark.parametrize("march", ["rv32imc", "rv32imfc"])
def test_same_bits_as_on_the_host(
    repository: Path, tmp_path: Path, march: Architecture, toolchain: RiscvToolchain
) -> None:
    if toolchain == "gcc" and shutil.which(DEFAULT_NAME) is None:
        pytest.skip(f"{DEFAULT_NAME} is not on PATH (Debian: apt install gcc-riscv64-unknown-elf)")
    folder = repository / "c_runtime" / "math"
    (tmp_path / "driver.c").write_text(driver_source())
    (tmp_path / "start.S").write_text(START)
    (tmp_path / "link.ld").write_text(LINKER_SCRIPT)
    sources = [*sorted(folder.glob("*.c")), tmp_path / "driver.c", tmp_path / "start.S"]
    elf = build_riscv_elf(sources, [folder], tmp_path / "link.ld", march=march, toolchain=toolchain)
    x = inputs()
    host = run_on_host(folder, tmp_path / "driver.c", x)
    chip = run_on_riscv(elf, x)
    # NaNs differ in their payload between machines; everything else must not.
    same = (host.view(np.uint32) == chip.view(np.uint32)) | (np.isnan(host) & np.isnan(chip))
    assert {name: int(count) for name, count in zip(FUNCTIONS, (~same).sum(1), strict=True) if count} == {}
    assert np.isfinite(chip).sum() > chip.size // 2
