"""Small bare-metal programs: assembled, linked, and what all of them measure with."""

import functools
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from tvm_pulp.sim.iss import Machine

WORDS = 256  # of measurements

# A clock of a core: cycles between the two in s11.
CLOCK = """
.macro begin
  csrr s10, mcycle
.endm
.macro elapsed
  csrr s11, mcycle
  sub s11, s11, s10
  addi s11, s11, -1
.endm
"""

# Snitch cores, whose code and data are in L2.
SNITCH_SCRIPT = """
ENTRY(_start)
SECTIONS {
  . = 0x80000000;
  .text : { *(.text.start) *(.text*) }
  .data : ALIGN(64) { *(.data*) *(.rodata*) }
  /DISCARD/ : { *(.riscv.attributes) *(.comment) *(.note*) *(.debug*) }
}
"""


@functools.cache
def link(source: str, script: str, extensions: str = "+m+a") -> bytes:
    """Assemble a whole program to an executable."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "link.ld").write_text(script)
        (folder / "guest.S").write_text(source)
        command = [sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding-none"]
        command += [f"-mcpu=generic_rv32{extensions}", "-mabi=ilp32", "-nostdlib", "-g0"]
        command += [f"-Wl,-T,{folder / 'link.ld'}", str(folder / "guest.S"), "-o", str(folder / "guest.elf")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (folder / "guest.elf").read_bytes()


def measurements(machine: Machine, address: int) -> tuple[int, ...]:
    """The words that a program left."""
    return struct.unpack(f"<{WORDS}I", machine.read(address, 4 * WORDS))


def warm(body: str, prepare: str = "", end: str = "elapsed") -> str:
    """A piece of code twice between `begin` and `end`: the second time all of it is in the instruction cache."""
    return f"  li s2, 2\n1:\n{prepare}\n  fence\n  begin\n{body}\n  {end}\n  addi s2, s2, -1\n  bnez s2, 1b\n"


def repeat(instruction: str, count: int = 16) -> str:
    """The instruction `count` times."""
    return "\n".join([instruction] * count)
