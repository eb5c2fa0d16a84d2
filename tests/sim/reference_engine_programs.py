"""Programs with a job of NEUREKA whose cycles were measured on the public GVSoC model; see reference_programs.py."""

from tests.sim.reference_programs import BARRIER_EVENT, STORE_MINE, TO_L1, command, dma_core, rounds


def _beside_a_job(words: list[int], branch: str, others: str) -> str:
    """One core programs a job and waits for it; those that take the branch do something else once it runs."""
    table = "\n".join(f"  .word {word}" for word in words)
    return f"""{
        rounds(f'''
  {branch} s1, 1f
  li t1, {1 << 12}
  sw t1, 0(s0)
  sw t1, 0x28(s0)
  li a3, 0x10201000
  la a4, job
  lw t1, 4(a3)
  addi a5, a3, 0x20
  addi a6, a5, 96
4:
  lw t1, 0(a4)
  sw t1, 0(a5)
  addi a4, a4, 4
  addi a5, a5, 4
  bne a5, a6, 4b
  csrr s10, mcycle
  sw zero, 0(a3)
  p_elw t1, 0x3c, s0
  csrr s11, mcycle
  li t1, {BARRIER_EVENT}
  sw t1, 0(s0)
  j 2f
1:
  li t3, 150
5:
  addi t3, t3, -1
  bnez t3, 5b
{others}
2:
{STORE_MINE}
''')
    }
.data
.align 4
job:
{table}
"""


def engine_and_cores(words: list[int], offset: int, step: int) -> str:
    """Core 0 waits for a job of NEUREKA while the others load from L1: cycles of the job, then of each core.

    A core starts `offset` bytes into L1 plus four times its number and goes on by `step`.
    """
    loads = f"""
  li t0, L1 + {offset}
  slli t1, s1, 2
  add t0, t0, t1
  csrr s10, mcycle
  lp_setupi 50, 3f
  p_lw_post t3, t0, {step}
  p_lw_post t3, t0, {step}
  p_lw_post t3, t0, {step}
3:
  p_lw_post t3, t0, {step}
  csrr s11, mcycle
"""
    return _beside_a_job(words, "bnez", loads)


def engine_and_dma(words: list[int]) -> str:
    """The DMA writes 4 KiB while NEUREKA works: cycles of the job seen by core 1, and of the transfer by core 0."""
    return _beside_a_job(words, "beqz", dma_core(command(4096, TO_L1, "L1 + 0x18000")))
