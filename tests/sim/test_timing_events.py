"""Barriers, fork and join, software events, mutexes, event loads: cycles as measured on the public model."""

from tests.sim.guest import run_guest

IDEAL = {"icache.ideal": True}

STORE_MINE = """
  sub s11, s11, s10
  li t1, RESULTS + {offset}
  slli t2, s1, 2
  add t1, t1, t2
  sw s11, 0(t1)
"""


def test_barrier_of_cores_that_arrive_together() -> None:
    barriers = "  p_elw t1, 0x21c, s0\n" * 8
    text = f"""
.text
main:
  p_elw t1, 0x21c, s0
  csrr s10, mcycle
{barriers}
  csrr s11, mcycle
{STORE_MINE.format(offset=0)}
  p_elw t1, 0x21c, s0
  ret
"""
    _, cycles = run_guest(text, 8, settings=IDEAL)
    assert cycles[:8] == (41,) * 8


def test_all_cores_leave_six_cycles_after_the_last_arrival() -> None:
    # Core 7 arrives last; everybody notes when it leaves, core 7 also when it arrived.
    text = """
.text
main:
  p_elw t1, 0x21c, s0
  li t2, 7
  bne s1, t2, 1f
  li t3, 100
2:
  addi t3, t3, -1
  bnez t3, 2b
1:
  csrr s10, mcycle
  p_elw t1, 0x21c, s0
  csrr s11, mcycle
  li t1, RESULTS
  slli t2, s1, 3
  add t1, t1, t2
  sw s10, 0(t1)
  sw s11, 4(t1)
  p_elw t1, 0x21c, s0
  ret
"""
    _, cycles = run_guest(text, 8, settings=IDEAL)
    arrived, left = cycles[0:16:2], cycles[1:16:2]
    assert len(set(left)) == 1
    assert left[0] - max(arrived) == 6 and max(arrived) == arrived[7]


FORK = """
.text
main:
  bnez s1, slave
  li t3, 200              # let the others fall asleep
1:
  addi t3, t3, -1
  bnez t3, 1b
  li t4, 0xfe
  la t5, task
  li t6, 5
  csrr s10, mcycle
  sw t4, 0x84(s0)
  sw t5, 0x80(s0)
  sw t6, 0x80(s0)
  csrr s11, mcycle
  p_elw t1, 0x21c, s0
  csrr s9, mcycle
  li t1, RESULTS
  sw s10, 0(t1)
  sw s11, 4(t1)
  sw s9, 8(t1)
  ret
slave:
  mv s3, ra
  p_elw t0, 0x80, s0
  p_elw a0, 0x80, s0
  jalr ra, 0(t0)
  mv ra, s3
  ret
task:
  csrr s11, mcycle
  p_elw t1, 0x21c, s0
  li t1, RESULTS + 64
  slli t2, s1, 2
  add t1, t1, t2
  sw s11, 0(t1)
  sw a0, 32(t1)
  ret
"""


def test_fork_and_join() -> None:
    _, cycles = run_guest(FORK, 8, settings=IDEAL)
    begin, forked, joined = cycles[:3]
    assert forked - begin == 4
    # Two dispatch pops, then the jump to the task; the argument arrives with it.
    assert [start - begin for start in cycles[17:24]] == [12] * 7
    assert cycles[25:32] == (5,) * 7
    assert joined - begin == 18


def test_software_event_wakes_another_core() -> None:
    text = """
.text
main:
  li t1, 0x10001
  sw t1, 0(s0)
  bnez s1, wait
  li t3, 100
1:
  addi t3, t3, -1
  bnez t3, 1b
  li t4, 2
  csrr s10, mcycle
  sw t4, 0x100(s0)
  li t1, RESULTS
  sw s10, 0(t1)
  p_elw t1, 0x21c, s0
  ret
wait:
  p_elw t1, 0x3c, s0
  csrr s11, mcycle
  li t1, RESULTS
  sw s11, 4(t1)
  p_elw t1, 0x21c, s0
  ret
"""
    _, cycles = run_guest(text, 2, settings=IDEAL)
    assert cycles[1] - cycles[0] == 6


SECTION = """
  p_elw t2, 0xc0, s0
  lw t3, 0(t0)
  addi t3, t3, 1
  sw t3, 0(t0)
  sw t2, 0xc0(s0)
"""


def test_mutex_uncontended_and_contended() -> None:
    text = f"""
.text
main:
  li t0, L1
  sw zero, 0(t0)
  p_elw t1, 0x21c, s0
  csrr s10, mcycle
{SECTION * 8}
  csrr s11, mcycle
{STORE_MINE.format(offset=0)}
  p_elw t1, 0x21c, s0
  bnez s1, 1f
  li t0, L1
  lw t1, 0(t0)
  li t2, RESULTS
  sw t1, 64(t2)
1:
  ret
"""
    _, alone = run_guest(text, 1, settings=IDEAL)
    _, together = run_guest(text, 8, settings=IDEAL)
    assert (alone[0] - 1) / 8 == 8  # a free mutex takes three cycles
    assert alone[16] == 8 and together[16] == 64  # the mutex excludes
    assert abs(max(together[:8]) / 64 - 9.1) <= 0.2


def test_event_load_with_a_pending_event() -> None:
    text = """
.text
main:
  li t1, 1
  sw t1, 0x100(s0)
  sw t1, 0(s0)
  nop
  begin
  p_elw t2, 0x3c, s0
  end 0
  li t1, RESULTS
  sw t2, 4(t1)
  lw t3, 0x1c(s0)
  sw t3, 8(t1)
  ret
"""
    _, cycles = run_guest(text, 1, settings=IDEAL)
    assert cycles[:3] == (5, 1, 0)  # cycles, the masked event, and it is cleared


def test_test_and_set_lock() -> None:
    section = """
1:
  lw t2, 0(t0)
  bltz t2, 1b
  lw t3, 0(t4)
  addi t3, t3, 1
  sw t3, 0(t4)
  sw zero, 0(t0)
"""
    text = f"""
.text
main:
  li t0, 0x10100010
  li t4, L1
  sw zero, 0(t4)
  sw zero, 0(t0)
  p_elw t1, 0x21c, s0
{section * 8}
  p_elw t1, 0x21c, s0
  bnez s1, 1f
  lw t1, 0(t4)
  li t2, RESULTS
  sw t1, 0(t2)
1:
  ret
"""
    _, counted = run_guest(text, 8, settings=IDEAL)
    assert counted[0] == 64
