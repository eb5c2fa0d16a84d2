"""The matrix product of bench_sim on a Snitch cluster: eight workers multiply, the ninth core copies 64 KiB."""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine, RunResult

START = """
  .section .text.start
  .globl _start
_start:
  li sp, 0x10020000
  slli t0, a0, 10
  sub sp, sp, t0
  call core_main
1: wfi
  j 1b
  .data
  .align 6
  .globl tohost
  .globl fromhost
tohost: .space 8
fromhost: .space 8
"""

# C[64x64] = A[64x64] * B[64x64]^T, int8, 2 x 2 blocks in plain C: 4 loads, 4 products and 4 sums in a round.
KERNEL = r"""
#include <stdint.h>
enum { WORKERS = 8, BYTES = 1024 };
extern volatile uint32_t tohost;
volatile uint32_t repeats = 1;
static uint8_t far[BYTES] __attribute__((aligned(64))) = {1};
static int8_t A[4096] __attribute__((section(".l1"), aligned(64)));
static int8_t B[4096] __attribute__((section(".l1"), aligned(64)));
static int32_t C[4096] __attribute__((section(".l1"), aligned(64)));
static uint8_t near[BYTES] __attribute__((section(".l1"), aligned(64)));

static inline void barrier(void) { __asm__ volatile("fence\ncsrr x0, 0x7c2" ::: "memory"); }

static void copy(void) {
  uint32_t id, left;
  __asm__ volatile(".insn r 0x2b, 0, 0, x0, %0, x0" ::"r"(far));
  __asm__ volatile(".insn r 0x2b, 0, 1, x0, %0, x0" ::"r"(near));
  __asm__ volatile(".insn r 0x2b, 0, 2, %0, %1, x0" : "=r"(id) : "r"(BYTES) : "memory");
  do __asm__ volatile(".insn r 0x2b, 0, 4, %0, x0, x2" : "=r"(left)::"memory");
  while (left);
}

__attribute__((noinline)) static void matmul(uint32_t core) {
  for (uint32_t i = core * 2; i < 64; i += WORKERS * 2)
    for (uint32_t j = 0; j < 64; j += 2) {
      const int8_t *a = A + i * 64, *b = B + j * 64;
      int32_t c0 = 0, c1 = 0, c2 = 0, c3 = 0;
      for (uint32_t k = 0; k < 64; k++) {
        c0 += a[k] * b[k], c1 += a[k] * b[k + 64];
        c2 += a[k + 64] * b[k], c3 += a[k + 64] * b[k + 64];
      }
      C[i * 64 + j] = c0, C[i * 64 + j + 1] = c1, C[i * 64 + j + 64] = c2, C[i * 64 + j + 65] = c3;
    }
}

void core_main(uint32_t core) {
  uint32_t count = repeats, wrong = 0;
  if (core == 0)
    for (uint32_t i = 0; i < 4096; i++) A[i] = (int8_t)(i * 7 + 3), B[i] = (int8_t)(i * 13 + 5);
  barrier();
  for (uint32_t n = 0; n < count; n++) {
    if (core < WORKERS) matmul(core);
    else for (uint32_t m = 0; m < 64; m++) copy();
    barrier();
  }
  if (core) return;
  for (uint32_t i = 0; i < 64; i += 9)
    for (uint32_t j = 0; j < 64; j += 5) {
      int32_t sum = 0;
      for (uint32_t k = 0; k < 64; k++) sum += A[i * 64 + k] * B[j * 64 + k];
      wrong += sum != C[i * 64 + j];
    }
  tohost = (wrong != 0) << 1 | 1;
}
"""

LINKER_SCRIPT = """
ENTRY(_start)
SECTIONS {
  .l1 0x10000000 (NOLOAD) : { *(.l1*) }
  . = 0x80000000;
  .text : { *(.text.start) *(.text*) }
  .data : ALIGN(64) { *(.data*) *(.sdata*) *(.rodata*) *(.bss*) *(.sbss*) }
  /DISCARD/ : { *(.riscv.attributes) *(.comment) *(.note*) *(.debug*) }
}
"""


def build() -> bytes:
    """Compile the kernel to an executable."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in (("start.S", START), ("kernel.c", KERNEL), ("link.ld", LINKER_SCRIPT)):
            (folder / file).write_text(text)
        command = [sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding-none", "-O2", "-g0"]
        command += ["-mcpu=generic_rv32+m+a", "-mabi=ilp32", "-nostdlib", "-fno-sanitize=all"]
        command += [f"-Wl,-T,{folder / 'link.ld'}"]
        files = [str(folder / "start.S"), str(folder / "kernel.c"), "-o", str(folder / "kernel.elf")]
        subprocess.run([*command, *files], check=True)
        return (folder / "kernel.elf").read_bytes()


def run(elf: bytes, repeats: int) -> RunResult:
    """So many products on all nine cores."""
    machine = Machine(soc.load("snitch-ita"))
    machine.load_elf(elf)
    machine.write(machine.symbol("repeats"), struct.pack("<I", repeats))
    result = machine.run()
    if result.exit_code:
        raise SystemExit("bench_sim: the product on Snitch cores is wrong")
    return result
