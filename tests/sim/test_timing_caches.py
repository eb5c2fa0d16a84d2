"""Instruction caches: cost of cold and warm straight-line code, sharing, and caches switched off."""

from tests.sim.assembler import repeat
from tests.sim.guest import run_guest

# 64 instructions in 16 lines, entered by a jump.
BLOCK = f"""
.align 4
block:
{repeat("nop", 63)}
  ret
"""

# 1 KiB of other code: more than the private cache of 512 bytes, less than the shared 4 KiB.
EVICT = f"""
.align 4
evict:
{repeat("nop", 255)}
  ret
"""


def call(number: int) -> str:
    # Misses of a straight-line block count when it is entered: the code that stops the clock is a block of two lines.
    return f"""
  la t0, block
  j 1f
.align 4
1:
  csrr s10, mcycle
  jalr ra, 0(t0)
  csrr s11, mcycle
  j 2f
.align 4
2:
  sub s11, s11, s10
  addi s11, s11, -1
  li s10, RESULTS + {4 * number}
  sw s11, 0(s10)
"""


WHOLE = 64 + 1 + 1 + 1  # instructions, jump out and back, jump penalty of both


def test_cold_then_warm() -> None:
    text = f"""
.text
main:
  mv s2, ra
{call(0)}
{call(1)}
{repeat("  la t0, evict" + chr(10) + "  jalr ra, 0(t0)", 6)}
{call(2)}
  mv ra, s2
  ret
{BLOCK}
{EVICT}
"""
    result, cycles = run_guest(text)
    cold, warm, from_shared = cycles[:3]
    # The line that stops the clock costs 2 more where the private cache has lost it. Replacement takes ways in a fixed
    # pseudo-random order, empty or not, so two lines of a set may push each other out.
    assert cold - (WHOLE + 18 * 16) in (0, 2)
    assert 0 <= warm - WHOLE <= 2 * 3
    # The block was pushed out of the private cache; the shared one has lost a few of its lines too.
    lost, rest = divmod(from_shared - (WHOLE + 2 * 16), 16)
    assert 0 <= lost <= 4 and rest <= 2
    assert result.cores[0]["icache"] > 18 * 16


def test_cores_share_a_refill() -> None:
    # Eight cores running the same cold code together take as long as one.
    text = f"""
.text
main:
  mv s2, ra
  la t0, block
  p_elw t1, 0x21c, s0
  csrr s10, mcycle
  jalr ra, 0(t0)
  csrr s11, mcycle
  sub s11, s11, s10
  li t1, RESULTS
  slli t2, a0, 2
  add t1, t1, t2
  sw s11, 0(t1)
  p_elw t1, 0x21c, s0
  mv ra, s2
  ret
{BLOCK}
"""
    _, together = run_guest(text, cores=8)
    _, alone = run_guest(text, cores=1)
    assert alone[0] >= 64 + 18 * 16
    assert all(abs(cycles - alone[0]) <= 8 for cycles in together[:8]), (alone[0], together[:8])


def test_disabled_caches_cost_every_time() -> None:
    text = f"""
.text
main:
  mv s2, ra
  li t1, 0x10201400
  sw zero, 0(t1)
{call(0)}
{call(1)}
  mv ra, s2
  ret
{BLOCK}
"""
    _, cycles = run_guest(text)
    for measured in cycles[:2]:
        assert 0 <= measured - (WHOLE + 14 * 16) <= 14
    # 4.5 cycles per 32-bit instruction
    assert abs(cycles[0] / 64 - 4.5) < 0.7


def test_ideal_cache_costs_nothing() -> None:
    text = f".text\nmain:\n  mv s2, ra\n{call(0)}\n  mv ra, s2\n  ret\n{BLOCK}"
    result, cycles = run_guest(text, settings={"icache.ideal": True})
    assert cycles[0] == WHOLE
    assert result.cores[0]["icache"] == 0
