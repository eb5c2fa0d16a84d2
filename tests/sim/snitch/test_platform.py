"""What Snitch cores see beside memory: identity, interrupts, counters, the host; and how they fail."""

import struct

import pytest

from tests.sim.snitch.guest import DMA_CORE, RESULTS, machine_for, on_core, run_guest
from tvm_pulp import soc
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.iss import Machine


def test_all_cores_start_with_their_number() -> None:
    text = "main:\n  csrr t0, mhartid\n  li t1, RESULTS\n  slli t2, a0, 2\n  add t1, t1, t2\n  addi t0, t0, 100\n"
    result, found = run_guest(text + "  sw t0, 0(t1)\n  ret\n")
    assert found[:9] == tuple(range(100, 109))
    assert result.exit_code == 0
    assert len(result.cores) == 9


def test_exit_code_and_text_through_the_host_words() -> None:
    text = on_core(
        3,
        "  la t1, call\n  la t0, tohost\n  sw t1, 0(t0)\n  la t0, fromhost\n2:\n  lw t1, 0(t0)\n  beqz t1, 2b\n"
        "  la t0, tohost\n  li t1, (37 << 1) | 1\n  sw t1, 0(t0)\n",
    )
    text += '\n.data\n.align 6\ncall: .4byte 64, 0, 1, 0, text, 0, 6, 0\ntext: .ascii "hello\\n"\n'
    result, _ = run_guest(text)
    assert (result.exit_code, result.stdout) == (37, "hello\n")


def test_wait_for_interrupt_ends_with_that_of_the_cluster() -> None:
    """Core 1 sleeps until core 0 raises its line; core 2 until the software interrupt."""
    text = """
main:
  li t0, 1
  beq a0, t0, 2f
  li t0, 2
  beq a0, t0, 2f
  bnez a0, 3f
  li t1, 100
1:
  addi t1, t1, -1
  bnez t1, 1b
  li t2, REGISTERS
  li t3, 2
  sw t3, 0x180(t2)
  li t2, 0xffff0000
  li t3, 4
  sw t3, 0(t2)
  ret
2:
  csrr t4, mcycle
  wfi
  csrr t5, mcycle
  sub t5, t5, t4
  li t6, RESULTS
  slli t3, a0, 2
  add t6, t6, t3
  sw t5, 0(t6)
  li t2, REGISTERS
  li t3, 2
  sw t3, 0x188(t2)
3:
  ret
"""
    _, found = run_guest(text)
    assert found[1] > 100
    assert found[2] > 100


def test_counters_of_the_cluster() -> None:
    code = """
  li t0, REGISTERS
  li t1, 1
  sw t1, 0x000(t0)
  li t1, 1 << 6
  sw t1, 0x008(t0)
  li t1, 1 << 7
  sw t1, 0x010(t0)
  li t2, L1
  lw t3, 0(t2)
  lw t3, 0(t2)
  lw t3, 0(t2)
  fence
  sw x0, 0x000(t0)
  sw x0, 0x008(t0)
  sw x0, 0x010(t0)
  li t4, RESULTS
  lw t5, 0x100(t0)
  sw t5, 0(t4)
  lw t5, 0x108(t0)
  sw t5, 4(t4)
  lw t5, 0x110(t0)
  sw t5, 8(t4)
  sw x0, 0x110(t0)
  lw t5, 0x110(t0)
  sw t5, 12(t4)
"""
    _, found = run_guest(on_core(0, code))
    assert found[0] > found[1] > 6
    assert found[2:4] == (3, 0)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("  li t1, L1 + 2\n  lw t2, 0(t1)\n", "no multiple"),
        ("  li t1, L1 + 1\n  sh t2, 0(t1)\n", "no multiple"),
        ("  li t1, 0x70000000\n  lw t2, 0(t1)\n", "nothing is mapped"),
        # Both at once: the address is looked at before what lies there.
        ("  li t1, 0x70000002\n  lw t2, 0(t1)\n", "no multiple"),
        ("  li t1, 0x70000001\n  sh t2, 0(t1)\n", "no multiple"),
        ("  li t1, 0x70000002\n  amoadd.w t2, t2, (t1)\n", "atomic and not aligned"),
        ("  li t1, REGISTERS + 0x400\n  lw t2, 0(t1)\n", "nothing is mapped"),
        ("  .2byte 0x0001, 0x0001\n", "illegal instruction"),
        ("  .4byte 0x0000007b\n", "illegal instruction"),
        ("  .insn r 0x2b, 0, 0x08, x0, x0, x0\n", "illegal instruction"),
        ("  ecall\n", "ecall"),
    ],
)
def test_faults(code: str, words: str) -> None:
    with pytest.raises(GuestFault, match=words):
        run_guest(on_core(0, code))


def test_a_core_that_stays_away_from_the_barrier_is_a_deadlock() -> None:
    with pytest.raises(GuestFault, match=r"deadlock.*barrier of all cores"):
        run_guest(on_core(4, "5:\n  wfi\n  j 5b\n"))


def test_alias_of_the_cluster() -> None:
    code = "  li t1, 0x18000040\n  li t2, 77\n  sw t2, 0(t1)\n  li t1, L1 + 64\n  lw t3, 0(t1)\n  li t4, RESULTS\n"
    _, found = run_guest(on_core(0, code + "  sw t3, 0(t4)\n"))
    assert found[0] == 77


def test_code_at_the_alias_of_the_cluster() -> None:
    """A loader writes it there, and the core that jumps there finds what it needs by its own address."""
    text = on_core(0, "  mv s2, ra\n  li t1, 0x18001000\n  jalr t1\n  mv ra, s2\n")
    text += "routine:\n  auipc t2, 0\n  li t3, RESULTS\n  sw t2, 0(t3)\n  ret\nroutine_end:\n"
    machine = machine_for(text)
    begin = machine.symbol("routine")
    code = machine.read(begin, machine.symbol("routine_end") - begin)
    machine.write(0x18001000, code)
    assert machine.read(0x10001000, len(code)) == code == machine.read(0x18001000, len(code))
    machine.run(max_cycles=100_000)
    assert machine.read(RESULTS, 4) == (0x18001000).to_bytes(4, "little")


def test_atomics_of_all_cores_add_up() -> None:
    text = "main:\n  li t1, RESULTS\n  addi t2, a0, 1\n  li t3, 10\n1:\n  amoadd.w t4, t2, (t1)\n  addi t3, t3, -1\n"
    text += (
        "  bnez t3, 1b\n  addi t5, t1, 4\n2:\n  lr.w t4, (t5)\n  add t4, t4, t2\n  sc.w t6, t4, (t5)\n  bnez t6, 2b\n"
    )
    text += "  addi t5, t1, 8\n  amomaxu.w t4, a0, (t5)\n  ret\n"
    machine = machine_for(text)
    machine.write(0x10010000, bytes(64))
    machine.run(max_cycles=100_000)
    assert struct.unpack("<3I", machine.read(0x10010000, 12)) == (450, 45, 8)


def test_the_report_calls_the_last_core_by_its_role() -> None:
    result, _ = run_guest("main:\n  ret\n")
    assert result.report()["cores"][DMA_CORE]["name"] == "DMA core"


def test_parts_of_a_core_add_up_to_its_cycles() -> None:
    text = "main:\n  li t1, L1\n  lw t2, 0(t1)\n  mul t2, t2, t2\n  sw t2, 0(t1)\n  barrier\n  ret\n"
    for core in run_guest(text)[0].report()["cores"]:
        assert sum(core["breakdown"].values()) == core["cycles"]


def test_descriptions_that_contradict_themselves() -> None:
    with pytest.raises(UserError, match="no weight memory"):
        soc.load("snitch-ita").with_settings({"memory.weight.size": 4096})
    with pytest.raises(UserError, match="RV32IMA"):
        Machine(soc.load("snitch-ita").with_settings({"cluster.isa.xpulp": True}))
