"""Assemble small bare-metal programs, run them on the simulator and read back the cycle counts they measured.

Every program boots the same way: the controller starts the cluster cores, each of which sets up its stack and event
mask and calls `main` with its number in a0. Core 0 ends the run when its `main` returns.
"""

from collections.abc import Mapping

from tests.sim.assembler import CLOCK, link, measurements
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine, RunResult

RESULTS = 0x1C1F0000  # 256 words in L2, where measurements go

LINKER_SCRIPT = """
ENTRY(_start)
SECTIONS {
  . = 0x1c010000;
  .text : { *(.text.start) *(.text*) }
  .data : ALIGN(16) { *(.data*) *(.rodata*) }
  .bss : { *(.bss*) }
  /DISCARD/ : { *(.riscv.attributes) *(.comment) *(.note*) *(.debug*) }
}
"""

# XpulpV2 has no assembler: the few instructions the programs use.
MACROS = """
.macro p_elw rd, offset, base
  .insn i 0x03, 6, \\rd, \\offset(\\base)
.endm
.macro p_lw_post rd, base, step
  .insn i 0x0b, 2, \\rd, \\base, \\step
.endm
.macro p_mac rd, a, b
  .insn r 0x33, 0, 0x21, \\rd, \\a, \\b
.endm
.macro pv_sdotsp_b rd, a, b
  .insn r 0x57, 1, 0x5c, \\rd, \\a, \\b
.endm
.macro lp_setupi count, end
1000: .4byte 0x0000507b | (\\count << 20) | (((\\end - 1000b) / 2) << 15)
.endm
.macro end number
  elapsed
  li s10, RESULTS + 4 * (\\number)
  sw s11, 0(s10)
.endm
.equ RESULTS, 0x1c1f0000
.equ L1, 0x10000000
.equ L2, 0x1c100000
.equ EVENTS, 0x10204000
.equ DMA, 0x10204400
.equ EXIT, 0x1a1040a0
"""

START = """
.section .text.start
.globl _start
_start:
  csrr a0, 0xf14
  li t0, 0x3e0
  bne a0, t0, cluster
  li t0, 0x1a108800
  li t1, 1
  sw t1, 0(t0)
  la sp, controller_stack
  la t0, controller_main
  beqz t0, 1f
  jalr t0
1:
  li t0, 0x10200040
  la t1, _start
  li t2, CORES
2:
  sw t1, 0(t0)
  addi t0, t0, 4
  addi t2, t2, -1
  bnez t2, 2b
  li t0, 0x10200008
  li t1, (1 << CORES) - 1
  sw t1, 0(t0)
  wfi
cluster:
  li sp, 0x10040000
  slli t0, a0, 10
  sub sp, sp, t0
  li t0, 0x10201400
  li t1, 1
  sw t1, 0(t0)
  li s0, EVENTS
  li t1, 0x70000
  sw t1, 0(s0)
  li t1, (1 << CORES) - 1
  sw t1, 0x200(s0)
  sw t1, 0x20c(s0)
  p_elw t1, 0x21c, s0
  mv s1, a0
  call main
  bnez s1, sleep
  li t0, EXIT
  li t1, 0x80000000
  sw t1, 0(t0)
sleep:
  li t1, 0
  sw t1, 0(s0)
3:
  p_elw t1, 0x3c, s0
  j 3b
.weak controller_main
.bss
.align 4
.space 512
controller_stack:
.text
"""


def assemble(text: str, cores: int = 1) -> bytes:
    """Assemble a program (labels `main` and optionally `controller_main`) to an executable."""
    return link(f".equ CORES, {cores}\n{CLOCK}{MACROS}\n{START}\n{text}\n", LINKER_SCRIPT, "+m+f")


def machine_for(
    text: str,
    cores: int = 1,
    preset: str = "siracusa",
    settings: Mapping[str, object] | None = None,
    timeline: bool = False,
) -> Machine:
    """A machine with the program loaded."""
    machine = Machine(soc.load(preset).with_settings(settings or {}), timeline=timeline)
    machine.load_elf(assemble(text, cores))
    return machine


def run_guest(
    text: str, cores: int = 1, preset: str = "siracusa", settings: Mapping[str, object] | None = None
) -> tuple[RunResult, tuple[int, ...]]:
    """Run a program; returns the result and its measurements."""
    machine = machine_for(text, cores, preset, settings)
    result = machine.run(max_cycles=10_000_000)
    return result, measurements(machine, RESULTS)


def measure(
    bodies: Mapping[str, str], prepare: str = "", preset: str = "siracusa", settings: Mapping[str, object] | None = None
) -> dict[str, int]:
    """Cycles of each piece of code on core 0, instruction caches ideal unless the settings say otherwise."""
    blocks = [f"{prepare}\n  begin\n{body}\n  end {number}\n" for number, body in enumerate(bodies.values())]
    text = "main:\n" + "\n".join(blocks) + "\n  ret\n.data\n.align 4\ndata: .space 64\n"
    _, cycles = run_guest(text, 1, preset, {"icache.ideal": True, **(settings or {})})
    return dict(zip(bodies, cycles, strict=False))
