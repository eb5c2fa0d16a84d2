"""Cycles of Snitch cores against the table of the platform."""

import pytest

from tests.sim.assembler import repeat
from tests.sim.snitch.guest import DMA_CORE, measure, run_guest

PREPARE = "  li a2, L1\n  li a3, 7\n  li a4, 1000\n  li a5, REGISTERS\n"

# name -> (code, cycles)
CASES = {
    "alu": (repeat("addi t3, t3, 1", 16), 16),
    "branch not taken": (repeat("bne a3, a3, 9f", 4), 4),
    "taken branch": ("  bne a3, a4, 2f\n  nop\n2:\n  addi t3, t3, 1\n", 2),
    "jump": ("  j 2f\n  nop\n2:\n  addi t3, t3, 1\n", 2),
    "load and use": ("  lw t3, 0(a2)\n  addi t3, t3, 1\n", 5),
    "load, three others, use": ("  lw t3, 0(a2)\n  nop\n  nop\n  sw a3, 8(a2)\n  addi t3, t3, 1\n", 5),
    "consecutive loads": ("  lw t3, 0(a2)\n  lw t4, 4(a2)\n  lw t5, 8(a2)\n  addi t5, t5, 1\n", 13),
    "stores": (repeat("sw a3, 0(a2)", 8), 8),
    "multiplication and use": ("  mul t3, a3, a4\n  addi t3, t3, 1\n", 5),
    "independent multiplications": (
        "  mul t3, a3, a4\n  mul t4, a3, a4\n  mul t5, a3, a4\n  mul t6, a3, a4\n  beq t6, x0, 9f\n",
        8,
    ),
    "division, quotient of 8 bits": ("  div t3, a4, a3\n  addi t3, t3, 1\n", 5 + 7 + 1),
    "division by something larger": ("  div t3, a3, a4\n  addi t3, t3, 1\n", 5),
    "division by zero": ("  divu t3, a3, x0\n  addi t3, t3, 1\n", 38),
    "load of a cluster register and use": ("  lw t3, 0(a5)\n  addi t3, t3, 1\n", 10),
    # The result arrives in the fourth cycle and waits until no instruction that is issued writes a register.
    "write port": ("  lw t3, 0(a2)\n" + repeat("addi t4, t4, 1", 5) + "\n  beq t3, x0, 2f\n2:\n", 8),
    "write port, result used": (
        "  lw t3, 0(a2)\n" + repeat("addi t4, t4, 1", 8) + "\n  bne t3, t3, 9f\n  addi t3, t3, 1\n",
        12,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_cycles(name: str) -> None:
    code, cycles = CASES[name]
    assert measure(code, PREPARE) == cycles


def test_a_result_waits_for_a_cycle_in_which_no_instruction_writes() -> None:
    """Without the port the branch could be issued four cycles after the load; all cycles until then write registers."""
    busy = "  lw t3, 0(a2)\n" + repeat("addi t4, t4, 1", 6) + "\n  bne t3, t3, 9f\n"
    free = "  lw t3, 0(a2)\n" + repeat("sw a3, 8(a2)", 2) + "\n" + repeat("addi t4, t4, 1", 4) + "\n  bne t3, t3, 9f\n"
    assert (measure(busy, PREPARE), measure(free, PREPARE)) == (9, 8 + 1)


def test_loop_of_loads_and_stores_takes_eleven_cycles() -> None:
    # The branch on the loaded word closes the loop.
    cycles = [
        measure(
            f"  sw x0, 16(a2)\n  sw x0, 0(a2)\n  li t5, {count}\n3:\n  lw t3, 0(a2)\n  addi t3, t3, 1\n"
            "  sw t3, 0(a2)\n  lw t4, 0(a2)\n  blt t4, t5, 3b\n",
            PREPARE,
        )
        for count in (10, 20)
    ]
    assert cycles[1] - cycles[0] == 10 * 11


@pytest.mark.parametrize(("load", "period"), [("dmstati t3, 2", 5), ("lw t3, 0x1a8(a5)", 10)])
def test_poll_loops(load: str, period: int) -> None:
    """A loop of an instruction that looks at a status and a branch on it."""
    poll = f"  {load}\n  bnez t3, 9f\n"
    one, eleven = (measure(repeat(poll, count), PREPARE, DMA_CORE) for count in (1, 11))
    assert eleven - one == 10 * period


def test_eight_multiplications_on_eight_cores_take_64_cycles() -> None:
    registers = ["t3", "t4", "t5", "t6", "a2", "a3", "a4", "a5"]
    body = "\n".join(f"  mul {r}, s3, s3" for r in registers)
    text = "main:\n  li s3, 3\n  li s2, 2\n1:\n  barrier\n  begin\n  li t0, 8\n  beq a0, t0, 2f\n" + body
    text += "\n" + "\n".join(f"  add t0, {r}, t0" for r in registers)
    text += "\n2:\n  barrier\n  end 0\n  addi s2, s2, -1\n  bnez s2, 1b\n  ret\n"
    cycles = run_guest(text)[1][0]
    assert 64 <= cycles < 64 + 40


def test_barrier_is_left_two_cycles_after_the_last_arrives() -> None:
    """Core 3 comes late and reads the clock before its access; all read it again right behind the barrier."""
    text = """
main:
  li s2, 2
1:
  barrier
  li t0, 3
  bne a0, t0, 2f
  li t1, 40
3:
  addi t1, t1, -1
  bnez t1, 3b
2:
  csrr t3, mcycle
  barrier
  csrr t4, mcycle
  addi s2, s2, -1
  bnez s2, 1b
  li t5, RESULTS
  slli t6, a0, 3
  add t5, t5, t6
  sw t3, 0(t5)
  sw t4, 4(t5)
  ret
"""
    _, found = run_guest(text)
    arrived, left = found[0:18:2], found[1:18:2]
    assert len(set(left)) == 1
    assert left[3] - arrived[3] == 1 + 2
    assert all(left[0] - arrived[core] > 40 for core in range(9) if core != 3)
