"""Small programs for a pool of tiles: all cores enter `main` with their number in a0; core 0 ends the run."""

from collections.abc import Mapping

from tests.sim.assembler import CLOCK, SNITCH_SCRIPT, link, measurements, warm
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine, RunResult

RESULTS = 0x80000  # words of L1, where measurements go

_START = f"""{CLOCK}
.macro keep
  li s10, RESULTS
  slli t0, s1, 2
  add s10, s10, t0
  sw s11, 0(s10)
.endm
.equ RESULTS, 0x80000
.equ CONTROL, 0x40000000
.equ DMA, 0x40010000
.equ FREE, 0x40000
.section .text.start
.globl _start
_start:
  csrr s1, mhartid
  mv a0, s1
  call main
  fence
  bnez s1, 1f
  li t0, CONTROL
  li t1, 1
  sw t1, 0(t0)
1:
  wfi
  j 1b
.text
"""


def assemble(text: str) -> bytes:
    """Assemble a program with a label `main` to an executable."""
    return link(f"{_START}\n{text}\n", SNITCH_SCRIPT)


def run_guest(
    text: str, name: str = "mempool", settings: Mapping[str, object] | None = None
) -> tuple[RunResult, tuple[int, ...], Machine]:
    """Run a program; returns the result, the word that each core kept, and the machine."""
    machine = Machine(soc.load(name).with_settings(settings or {}))
    machine.load_elf(assemble(text))
    result = machine.run(max_cycles=1_000_000)
    return result, measurements(machine, RESULTS), machine


def on_core(number: int, body: str) -> str:
    """A `main` in which one core does something and core 0 waits a while for it."""
    wait = "  li t1, 3000\n8:\n  addi t1, t1, -1\n  bnez t1, 8b\n"
    return f"main:\n  li t0, {number}\n  bne a0, t0, 9f\n{body}\n  ret\n9:\n{wait}  ret\n"


def measure(body: str, prepare: str = "", core: int = 0, settings: Mapping[str, object] | None = None) -> int:
    """Cycles of a piece of code on one core, once all of it is in its instruction cache."""
    return run_guest(on_core(core, f"{warm(body, prepare)}  keep\n"), settings=settings)[1][core]
