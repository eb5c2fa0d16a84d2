"""Cycles per instruction of one core, against the timing table of the platform."""

import pytest

from tests.sim.assembler import repeat
from tests.sim.guest import measure

PREPARE = """
  li t0, L1
  li t1, 7
  li t2, 3
  li t3, 0
  li t4, 0
  li a2, L1 + 64
"""

# name -> (code, cycles)
CASES = {
    "alu": (repeat("addi t3, t3, 1"), 16),
    "xpulp alu": (repeat(".insn r 0x33, 4, 0x02, t3, t1, t2"), 16),
    "csr read": (repeat("csrr t3, mhartid"), 16),
    "mul": (repeat("mul t3, t1, t2"), 16),
    "mul dependent": (repeat("mul t1, t1, t2"), 16),
    "p.mac chain": (repeat("p_mac t3, t1, t2"), 16),
    "sdot chain": (repeat("pv_sdotsp_b t3, t1, t2"), 16),
    "mulh": (repeat("mulh t3, t1, t2"), 80),
    "mulhu": (repeat("mulhu t3, t1, t2"), 80),
    "div by 7": ("li t5, 7\ndiv t3, t2, t5", 1 + 32),
    "div by 1": ("li t5, 1\ndiv t3, t2, t5", 1 + 34),
    "divu by 0x80000000": ("lui t5, 0x80000\ndivu t3, t2, t5", 1 + 3),
    "rem by -7": ("li t5, -7\nrem t3, t2, t5", 1 + 32),
    "divu by 0": ("li t5, 0\ndivu t3, t2, t5", 1 + 35),
    "div by 0": ("li t5, 0\ndiv t3, t2, t5", 1 + 35),
    "load": (repeat("lw t3, 0(t0)"), 16),
    "load byte": (repeat("lb t3, 1(t0)"), 16),
    "load post-increment": (repeat("p_lw_post t3, a2, 4"), 16),
    "load and use": (repeat("lw t3, 0(t0)\naddi t4, t3, 1", 8), 24),
    "load, other, use": (repeat("lw t3, 0(t0)\nnop\naddi t4, t3, 1", 8), 24),
    "load then store of it": (repeat("lw t3, 0(t0)\nsw t3, 4(t0)", 8), 24),
    "post-load and dot": (repeat("p_lw_post t3, a2, 4\npv_sdotsp_b t4, t3, t1", 8), 24),
    "two post-loads and dot": (repeat("p_lw_post t3, a2, 4\np_lw_post t5, a2, 4\npv_sdotsp_b t4, t3, t5", 8), 32),
    "store": (repeat("sw t1, 0(t0)"), 16),
    "misaligned load": (repeat("lw t3, 2(t0)"), 32),
    "misaligned store": (repeat("sw t3, 2(t0)"), 32),
    "misaligned inside a word": (repeat("lh t3, 1(t0)"), 16),
    "branch not taken": (repeat("beq t1, t2, 9f") + "\n9:", 16),
    "branch taken": ("\n".join(f"bne t1, t2, {n}f\nnop\n{n}:" for n in range(1, 9)), 24),
    "jal": ("\n".join(f"jal t3, {n}f\nnop\n{n}:" for n in range(1, 9)), 16),
    "jalr": ("la t3, 1f\nnop\njalr t4, 0(t3)\nnop\n1:", 2 + 1 + 2),
    "jalr after its source": ("la t3, 1f\njalr t4, 0(t3)\nnop\n1:", 2 + 2 + 1),
    "hardware loop": ("lp_setupi 10, 2f\nnop\nnop\nnop\n2: nop", 1 + 40),
    "software loop": ("li t5, 10\n1: addi t5, t5, -1\nbnez t5, 1b", 1 + 9 * 4 + 2),
}


@pytest.fixture(scope="module")
def cycles() -> dict[str, int]:
    return measure({name: code for name, (code, _) in CASES.items()}, PREPARE)


@pytest.mark.parametrize("name", CASES)
def test_instruction_cost(cycles: dict[str, int], name: str) -> None:
    assert cycles[name] == CASES[name][1]


def test_public_model_multiplies_in_two_cycles() -> None:
    # The preset that imitates the public simulator: mul 2, one more when the next instruction uses the result.
    bodies = {"mul": repeat("mul t3, t1, t2"), "dependent": repeat("mul t1, t1, t2"), "mulh": repeat("mulh t3, t1, t2")}
    cycles = measure(bodies, PREPARE, "siracusa-gvsoc")
    assert cycles == {"mul": 32, "dependent": 15 * 3 + 2, "mulh": 80}


# Access -> (instruction, cycles per access)
ACCESSES = {
    "L1": ("lw t3, 0(t0)", 1),
    "event unit, core port": ("lw t3, 0(s0)", 1),
    "DMA status, core port": ("lw t3, 4(a3)", 1),
    "cluster timer": ("lw t3, 0(a4)", 3),
    "cluster control store": ("sw zero, 0(a5)", 3),
    "weight memory load": ("lw t3, 0(a6)", 5),
    "weight memory store": ("sw t3, 0(a6)", 5),
    "shared L2 load": ("lw t3, 0(a7)", 15),
    "shared L2 store": ("sw t3, 0(a7)", 15),
    "private L2 load": ("lw t3, 0(t5)", 15),
    "misaligned L2 load": ("lw t3, 2(a7)", 30),
    "APB": ("lw t3, 0(t6)", 23),
    "L1 at its alias": ("lw t3, 64(zero)", 1),
}
ADDRESSES = """
  li t0, L1
  li a3, DMA
  li a4, 0x10200400
  li a5, 0x10200000
  li a6, 0x10400000
  li a7, L2
  li t5, 0x1c000000
  li t6, 0x1a10b000
"""


def test_access_latency() -> None:
    bodies = {name: repeat(access, 8) for name, (access, _) in ACCESSES.items()}
    bodies["L2 load and use"] = repeat("lw t3, 0(a7)\naddi t4, t3, 1", 8)
    expected = {name: 8 * cycles for name, (_, cycles) in ACCESSES.items()} | {"L2 load and use": 8 * 17}
    assert measure(bodies, ADDRESSES) == expected


def test_controller_latency() -> None:
    # L2 is one cycle away from the controller, everything in the cluster fifteen.
    text = """
controller_main:
  li t0, L2
  li t1, L1
  csrr t2, mcycle
  lw t3, 0(t0)
  lw t3, 0(t0)
  lw t3, 0(t0)
  lw t3, 0(t0)
  csrr t4, mcycle
  lw t3, 0(t1)
  lw t3, 0(t1)
  csrr t5, mcycle
  sub t5, t5, t4
  sub t4, t4, t2
  li t0, RESULTS
  sw t4, 0(t0)
  sw t5, 4(t0)
  ret
main: ret
"""
    from tests.sim.guest import run_guest

    _, cycles = run_guest(text, settings={"icache.ideal": True})
    assert cycles[:2] == (5, 31)
