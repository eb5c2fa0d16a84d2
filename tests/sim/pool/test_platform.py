"""Registers, wake-ups and the DMA of a pool of tiles."""

import struct

import pytest

from tests.sim.assembler import repeat
from tests.sim.pool.guest import RESULTS, assemble, on_core, run_guest
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine, RunFault

_WAIT = "  li t1, 2000\n8:\n  addi t1, t1, -1\n  bnez t1, 8b\n"
_BARRIER = """
barrier:
  fence
  li t0, FREE
  li t1, 1
  amoadd.w t2, t1, (t0)
  li t3, CORES - 1
  bne t2, t3, 7f
  sw zero, 0(t0)
  fence
  li t0, CONTROL
  li t1, -1
  sw t1, 4(t0)
7:
  wfi
  ret
"""


def _with_barrier(body: str, cores: int) -> str:
    return f".equ CORES, {cores}\n{_BARRIER}\nmain:\n  mv s3, ra\n{body}\n  mv ra, s3\n  ret\n"


@pytest.mark.parametrize("name, cores", [("minpool", 16), ("mempool", 256)])
def test_a_barrier_holds_everybody_until_the_last_arrives(name: str, cores: int) -> None:
    results = {"minpool": 0x8000, "mempool": RESULTS}[name]
    # Core n works 16 n cycles; behind the barrier each sees what the others stored before it.
    body = f"  slli t1, s1, 2\n1:\n  addi t1, t1, -1\n  bgtz t1, 1b\n  li t0, {results}\n  slli t1, s1, 2\n"
    body += "  add t0, t0, t1\n  li t2, 1\n  sw t2, 0(t0)\n  call barrier\n"
    body += f"  li t0, {results}\n  li t1, {cores}\n  li t3, 0\n2:\n  lw t2, 0(t0)\n  add t3, t3, t2\n"
    body += "  addi t0, t0, 4\n  addi t1, t1, -1\n  bnez t1, 2b\n  call keep_sum\n  call barrier\n"
    keep = f"keep_sum:\n  li t0, {results + 0x400}\n  slli t1, s1, 2\n  add t0, t0, t1\n  sw t3, 0(t0)\n  ret\n"
    free = ".equ FREE_OF_MINPOOL, 0x7000\n"
    text = _with_barrier(body, cores) + keep
    if name == "minpool":
        text = free + text.replace("FREE\n", "FREE_OF_MINPOOL\n")
    machine = Machine(soc.load(name))
    machine.load_elf(assemble(text))
    machine.run(max_cycles=1_000_000)
    assert struct.unpack(f"<{cores}I", machine.read(results + 0x400, 4 * cores)) == (cores,) * cores


def test_a_wake_up_that_comes_early_is_kept_for_the_next_wfi() -> None:
    # Core 1 is woken twice while it works: both its waits go through, the third one sleeps.
    text = f"""
main:
  li t0, CONTROL
  li t1, 1
  bnez s1, 2f
  sw t1, 4(t0)
  sw t1, 4(t0)
{_WAIT}
  ret
2:
  bne s1, t1, 9f
  li t1, 200
3:
  addi t1, t1, -1
  bnez t1, 3b
  wfi
  li s11, 1
  keep
  wfi
  li s11, 2
  keep
  wfi
  li s11, 3
  keep
9:
  ret
"""
    assert run_guest(text)[1][1] == 2


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "register, value, woken",
    [
        (0x04, 7, {7}),
        (0x08, 0x3, set(range(1, 8))),
        (0x10, 0x8000, set(range(188, 192))),
        (0x28, 0x2, set(range(64, 128))),
    ],
)
def test_registers_wake_a_core_some_tiles_or_groups(register: int, value: int, woken: set[int]) -> None:
    text = f"""
main:
  bnez s1, 2f
  li t1, 300
3:
  addi t1, t1, -1
  bnez t1, 3b
  li t0, CONTROL
  li t1, {value}
  sw t1, {register}(t0)
{_WAIT}
  ret
2:
  wfi
  li s11, 1
  keep
  ret
"""
    kept = run_guest(text)[1]
    assert {core for core, word in enumerate(kept) if word} - {0} == woken


def _transfer(source: int, target: int, size: int) -> str:
    text = f"  li a2, DMA\n  li a3, {source}\n  sw a3, 0(a2)\n  li a3, {target}\n  sw a3, 4(a2)\n"
    text += f"  li a3, {size}\n  sw a3, 8(a2)\n  fence\n  begin\n  lw t3, 20(a2)\n1:\n  lw t3, 24(a2)\n  beqz t3, 1b\n"
    return text + "  elapsed\n  keep\n"


@pytest.mark.sample(2)
@pytest.mark.parametrize("size, beats", [(64, 1), (4096, 16), (65536, 256), (100, 1)])
def test_groups_move_what_lies_in_their_banks(size: int, beats: int) -> None:
    _, cycles, machine = run_guest(on_core(0, _transfer(0x80000000, 0x40000, size)))
    # A start-up of 30 cycles, a beat of 64 bytes per group and cycle, and polling.
    assert 30 + beats <= cycles[0] <= 30 + beats + 16
    assert machine.read(0x40000, size) == machine.read(0x80000000, size)


def test_a_second_transfer_before_the_first_is_over_is_refused() -> None:
    start = "  li a2, DMA\n  li a3, 0x80000000\n  sw a3, 0(a2)\n  li a3, 0x40000\n  sw a3, 4(a2)\n  li a3, 4096\n"
    with pytest.raises(RunFault, match="while another is under way: wait until DONE reads 1"):
        run_guest(on_core(0, start + "  sw a3, 8(a2)\n  fence\n" + repeat("  lw t3, 20(a2)", 2)))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "word", ["0x0000407b", ".insn r 0x57, 1, 0x70, t0, t1, t2", ".insn r 0x33, 0, 0x08, t0, t1, x0"]
)
def test_instructions_of_other_cores_are_illegal(word: str) -> None:
    code = f"  .4byte {word}" if word.startswith("0x") else f"  {word}"
    with pytest.raises(RunFault, match="illegal instruction"):
        run_guest(on_core(0, code))


def test_upper_halves_are_packed() -> None:
    body = "  li t1, 0x12345678\n  li t2, 0xabcdef01\n  .insn r 0x57, 0, 0x69, s11, t1, t2\n  keep\n"
    assert run_guest(on_core(0, body))[1][0] == 0x1234ABCD
