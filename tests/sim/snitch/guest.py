"""Small programs for the Snitch cluster: all nine cores enter `main` with their number in a0 and meet at a barrier
when they return; then core 0 ends the run."""

from collections.abc import Mapping

from tests.sim.assembler import CLOCK, SNITCH_SCRIPT, link, measurements, warm
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine, RunResult

RESULTS = 0x10010000  # 256 words of L1, where measurements go
DMA_CORE = 8

_START = f"""{CLOCK}
.macro dmsrc a, b
  .insn r 0x2b, 0, 0x00, x0, \\a, \\b
.endm
.macro dmdst a, b
  .insn r 0x2b, 0, 0x01, x0, \\a, \\b
.endm
.macro dmcpyi rd, size, flags
  .insn r 0x2b, 0, 0x02, \\rd, \\size, x\\flags
.endm
.macro dmstati rd, what
  .insn r 0x2b, 0, 0x04, \\rd, x0, x\\what
.endm
.macro dmstr a, b
  .insn r 0x2b, 0, 0x06, x0, \\a, \\b
.endm
.macro dmrep a
  .insn r 0x2b, 0, 0x07, x0, \\a, x0
.endm
.macro barrier
  csrr x0, 0x7c2
.endm
.macro end number
  elapsed
  li s10, RESULTS + 4 * (\\number)
  sw s11, 0(s10)
.endm
.equ RESULTS, 0x10010000
.equ L1, 0x10000000
.equ REGISTERS, 0x10020000
.equ ZEROS, 0x10030000
.section .text.start
.globl _start
_start:
  li sp, 0x10020000
  slli t0, a0, 10
  sub sp, sp, t0
  mv s1, a0
  call main
  fence
  barrier
  bnez s1, 1f
  la t0, tohost
  li t1, 1
  sw t1, 0(t0)
1:
  wfi
  j 1b
.data
.align 6
.globl tohost
.globl fromhost
tohost: .space 8
fromhost: .space 8
.text
"""


def assemble(text: str) -> bytes:
    """Assemble a program with a label `main` to an executable."""
    return link(f"{_START}\n{text}\n", SNITCH_SCRIPT)


def machine_for(text: str, settings: Mapping[str, object] | None = None, timeline: bool = False) -> Machine:
    """A machine with the program loaded."""
    machine = Machine(soc.load("snitch-ita").with_settings(settings or {}), timeline=timeline)
    machine.load_elf(assemble(text))
    return machine


def run_guest(text: str, settings: Mapping[str, object] | None = None) -> tuple[RunResult, tuple[int, ...]]:
    """Run a program; returns the result and its measurements."""
    machine = machine_for(text, settings)
    result = machine.run(max_cycles=1_000_000)
    return result, measurements(machine, RESULTS)


def on_core(number: int, body: str) -> str:
    """A `main` in which one core does something and the others nothing."""
    return f"main:\n  li t0, {number}\n  bne a0, t0, 9f\n{body}\n9:\n  ret\n"


def measure(body: str, prepare: str = "", core: int = 0, settings: Mapping[str, object] | None = None) -> int:
    """Cycles of a piece of code on one core, once all of it is in its instruction cache."""
    return run_guest(on_core(core, warm(body, prepare, "end 0")), settings)[1][0]
