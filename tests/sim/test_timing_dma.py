"""Cluster DMA: set-up, bandwidth, bursts, queues, and what contention with the cores does to it."""

import pytest

from tests.sim.guest import run_guest

IDEAL = {"icache.ideal": True}
QUIET = IDEAL | {"memory.l1.conflicts": False}

TO_L1, INCREMENT, TWO_D, EVENT = 1 << 17, 1 << 18, 1 << 19, 1 << 20

PREPARE = """
  li t1, 0x100
  sw t1, 0(s0)
  li a3, DMA
  li a4, L1
  li a5, L2
"""

# The wait loop as a compiler turns it around.
WAIT = """
  lw t2, 4(a3)
  and t2, t2, t3
  beqz t2, 2f
1:
  p_elw t4, 0x3c, s0
  lw t2, 4(a3)
  and t2, t2, t3
  bnez t2, 1b
2:
"""


def transfer(number: int, size: int, flags: int, line: int = 0, stride: int = 0) -> str:
    """One transfer, timed from the allocation to the end of the wait loop; its counter is freed afterwards."""
    extra = f"  li t5, {line}\n  li t6, {stride}\n" if line else ""
    words = "  sw t5, 0(a3)\n  sw t6, 0(a3)\n" if line else ""
    return f"""
  li a2, {size | flags | INCREMENT | EVENT | (TWO_D if line else 0)}
  li t0, 1
{extra}
  csrr s10, mcycle
  lw t1, 0(a3)
  sw a2, 0(a3)
  sw a4, 0(a3)
  sw a5, 0(a3)
{words}
  sll t3, t0, t1
{WAIT}
  end {number}
  sw t3, 4(a3)
  li t3, 0x100
  sw t3, 0x28(s0)
"""


SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
IN_1D = (22, 30, 46, 78, 142, 270, 526, 1038, 2062, 4110)
OUT_1D = (22, 30, 46, 79, 145, 277, 541, 1069, 2125, 4237)


@pytest.mark.parametrize("settings", [IDEAL, QUIET], ids=["beats", "bursts"])
def test_1d_transfers(settings: dict[str, object]) -> None:
    blocks = [transfer(n, size, TO_L1) for n, size in enumerate(SIZES)]
    blocks += [transfer(n + 10, size, 0) for n, size in enumerate(SIZES)]
    _, cycles = run_guest(f".text\nmain:\n{PREPARE}{''.join(blocks)}\n  ret\n", settings=settings)
    assert cycles[:20] == IN_1D + OUT_1D


LINES = (16, 64, 256, 1024)
OUT_2D = {1024: (209, 161, 149, 149), 4096: (785, 593, 545, 545), 16384: (3089, 2321, 2129, 2129)}


def test_2d_transfers() -> None:
    cases = [(size, line, flags) for size in OUT_2D for line in LINES for flags in (TO_L1, 0)]
    blocks = [transfer(n, size, flags, line, line + 16) for n, (size, line, flags) in enumerate(cases)]
    _, cycles = run_guest(f".text\nmain:\n{PREPARE}{''.join(blocks)}\n  ret\n", settings=QUIET)
    for (size, line, flags), measured in zip(cases, cycles, strict=False):
        expected = 18 + size // 8 if flags else OUT_2D[size][LINES.index(line)]
        assert abs(measured - expected) <= max(1, 0.02 * expected), (size, line, flags, measured, expected)


def enqueue(size: int, flags: int) -> str:
    return f"  li a2, {size | flags | INCREMENT | EVENT}\n  sw a2, 0(a3)\n  sw a4, 0(a3)\n  sw a5, 0(a3)\n"


def timed(commands: str, number: int = 0) -> str:
    return f"""
.text
main:
{PREPARE}
  li t0, 1
  csrr s10, mcycle
  lw t1, 0(a3)
{commands}
  csrr s9, mcycle
  sll t3, t0, t1
{WAIT}
  end {number}
  li t1, RESULTS
  csrr s11, mcycle
  sw s9, 4(t1)
  ret
"""


def test_directions_overlap_and_one_direction_does_not() -> None:
    _, both = run_guest(timed(enqueue(8192, TO_L1) + enqueue(8192, 0)), settings=QUIET)
    _, same = run_guest(timed(enqueue(8192, TO_L1) * 2), settings=QUIET)
    assert abs(both[0] - 1047) <= 0.03 * 1047
    assert abs(same[0] - 2064) <= 0.02 * 2064


def test_queues_of_two_and_of_eight_commands() -> None:
    # Commands move on to the queue of their direction at once, so that a core can go on writing them ...
    result, cycles = run_guest(timed(enqueue(64, TO_L1) * 8), settings=QUIET)
    assert abs(cycles[0] - 79) <= 3
    assert result.cores[0]["blocked"] == 0
    # ... until eight wait there and two with the core.
    result, cycles = run_guest(timed(enqueue(4096, TO_L1) * 12), settings=QUIET)
    assert result.cores[0]["blocked"] > 200
    result, cycles = run_guest(timed(enqueue(4096, TO_L1) * 11), settings=QUIET)
    assert result.cores[0]["blocked"] == 0


def test_weight_memory_is_as_fast_as_l2() -> None:
    prepare = PREPARE.replace("li a5, L2", "li a5, 0x10400000")
    _, cycles = run_guest(f".text\nmain:\n{prepare}{transfer(0, 16384, TO_L1)}\n  ret\n", settings=QUIET)
    assert abs(cycles[0] - 2063) <= 0.02 * 2063


def test_enqueueing_takes_five_cycles() -> None:
    text = f"""
.text
main:
{PREPARE}
  li a2, {1024 | TO_L1 | INCREMENT | EVENT}
  begin
  lw t1, 0(a3)
  sw a2, 0(a3)
  sw a4, 0(a3)
  sw a5, 0(a3)
  end 0
  ret
"""
    _, cycles = run_guest(text, settings=IDEAL)
    assert cycles[0] + 1 == 5


# Seven cores stream L1 while core 0 waits for 16 KiB from L2.
STREAM = f"""
.text
main:
  p_elw t1, 0x21c, s0
  bnez s1, stream
{PREPARE}
{transfer(0, 16384, TO_L1)}
  li t1, 0x10000
  sw t1, 0(s0)
  p_elw t1, 0x21c, s0
  ret
stream:
  li t0, L1 + 0x8000
  slli t1, s1, 2
  add t0, t0, t1
  csrr s10, mcycle
  lp_setupi 250, 2f
{"  p_lw_post t3, t0, 4" + chr(10)}{("  p_lw_post t3, t0, 4" + chr(10)) * 6}
2:
  p_lw_post t3, t0, 4
  csrr s11, mcycle
  sub s11, s11, s10
  li t1, RESULTS
  slli t2, s1, 2
  add t1, t1, t2
  sw s11, 0(t1)
  p_elw t1, 0x21c, s0
  ret
"""


def test_dma_loses_against_streaming_cores() -> None:
    _, calm = run_guest(STREAM, 8, settings=QUIET)
    _, busy = run_guest(STREAM, 8, settings=IDEAL)
    assert abs(calm[0] - 2070) <= 0.02 * 2070
    # The cores hardly notice, the transfer takes half as long again.
    assert abs(busy[0] - 3066) <= 0.02 * 3066
    assert all(2000 <= cycles <= 2010 for cycles in (*calm[1:8], *busy[1:8]))


def test_2d_data_arrives_line_by_line() -> None:
    fill = """
  mv t0, a5
  li t1, 0
  li t2, 256
1:
  sw t1, 0(t0)
  addi t0, t0, 4
  addi t1, t1, 1
  bne t1, t2, 1b
"""
    copy = transfer(200, 64, TO_L1, 16, 80)
    read = "".join(f"  lw t1, {4 * n}(a4)\n  li t2, RESULTS\n  sw t1, {4 * n}(t2)\n" for n in range(16))
    _, words = run_guest(f".text\nmain:\n{PREPARE}{fill}{copy}{read}\n  ret\n", settings=IDEAL)
    assert words[:16] == tuple(20 * line + word for line in range(4) for word in range(4))
