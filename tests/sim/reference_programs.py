"""Programs whose cycles were measured on the public GVSoC model of this chip, the same executables byte for byte.

Each is timed in its last of several rounds, in code of a few lines that stay in the instruction cache, unless the cache
is what it is about. Results are the first words at RESULTS.
"""

TO_L1, INCREMENT, EVENT = 1 << 17, 1 << 18, 1 << 20
DMA_EVENT, BARRIER_EVENT = 1 << 8, 1 << 16

# Wait for the counter whose bit is in t3.
_WAIT = """
5:
  lw t2, 4(a3)
  and t2, t2, t3
  beqz t2, 6f
  p_elw t4, 0x3c, s0
  j 5b
6:
  sw t3, 4(a3)
  li t4, 0x100
  sw t4, 0x28(s0)
"""

STORE_MINE = """
  sub s11, s11, s10
  li t1, RESULTS
  slli t2, s1, 2
  add t1, t1, t2
  sw s11, 0(t1)
"""


def rounds(body: str, before: str = "", count: int = 4) -> str:
    """A `main` that runs the body several times, all cores together; `before` runs once."""
    return f"""
.text
main:
  mv s4, ra
{before}
  li s5, {count}
  j 9f
.align 7
9:
  p_elw t1, 0x21c, s0
{body}
  addi s5, s5, -1
  bnez s5, 9b
  mv ra, s4
  ret
"""


def dma_core(commands: str) -> str:
    """Core 0 allocates a counter, writes commands, and waits with the event of the DMA unmasked."""
    return f"""
  li t1, {DMA_EVENT}
  sw t1, 0(s0)
  li a3, DMA
  li a5, L2
  li t0, 1
  csrr s10, mcycle
  lw t1, 0(a3)
  sll t3, t0, t1
{commands}
  csrr s9, mcycle
{_WAIT}
  csrr s11, mcycle
  li t1, {BARRIER_EVENT}
  sw t1, 0(s0)
"""


def command(size: int, flags: int, l1: str) -> str:
    return (
        f"  li a2, {size | flags | INCREMENT | EVENT}\n  li a4, {l1}\n  sw a2, 0(a3)\n  sw a4, 0(a3)\n  sw a5, 0(a3)\n"
    )


# Seven cores stream through all banks while the DMA writes 4 KiB: cycles of the transfer, then of each core.
CORES_AND_DMA = rounds(f"""
  bnez s1, 1f
{dma_core(command(4096, TO_L1, "L1"))}
  j 2f
1:
  li t0, L1 + 0x8000
  slli t1, s1, 4
  add t0, t0, t1
  csrr s10, mcycle
  lp_setupi 100, 3f
  p_lw_post t3, t0, 4
  p_lw_post t3, t0, 4
  p_lw_post t3, t0, 4
3:
  p_lw_post t3, t0, 4
  csrr s11, mcycle
2:
{STORE_MINE}
""")

# Two cores hammer one bank each while the DMA writes over them.
CORES_AND_DMA_ON_FEW_BANKS = rounds(f"""
  bnez s1, 1f
{dma_core(command(2048, TO_L1, "L1"))}
  j 2f
1:
  li t0, L1 + 0x8000
  slli t1, s1, 3
  add t0, t0, t1
  csrr s10, mcycle
  lp_setupi 100, 3f
  lw t3, 0(t0)
  lw t3, 0(t0)
  lw t3, 0(t0)
3:
  lw t3, 0(t0)
  csrr s11, mcycle
2:
{STORE_MINE}
""")


def small_commands(count: int) -> str:
    """Every core writes commands of 64 bytes back to back: until they are written, then until they are done."""
    return rounds(f"""
{
        dma_core(f'''
  li a2, 64 | 0x160000
  li a4, L1
  li t5, {count}
1:
  sw a2, 0(a3)
  sw a4, 0(a3)
  sw a5, 0(a3)
  addi t5, t5, -1
  bnez t5, 1b
''')
    }
  sub s9, s9, s10
  sub s11, s11, s10
  li t1, RESULTS
  slli t2, s1, 2
  add t1, t1, t2
  sw s9, 0(t1)
  sw s11, 32(t1)
""")


def transfer(size: int, flags: int) -> str:
    """One transfer alone: until its wait loop ends."""
    return rounds(f"""
{dma_core(command(size, flags, "L1"))}
  sub s11, s11, s10
  li t1, RESULTS
  sw s11, 0(t1)
""")


def l3_read(size: int) -> str:
    """The controller brings bytes from L3 to L2 while core 0 sleeps: cycles of the controller's clock."""
    return f"""
.text
controller_main:
  li a1, 0x1a102280
  li t0, 0x1a102000
  li t1, 0x10
  sw t1, 0(t0)
  li a2, L2
  li t2, {size}
  li t3, 5
  li t4, 0x4000
  li t5, 0x10
  li s5, 4
1:
  csrr s10, mcycle
  sw t3, 0x18(a1)
  sw t4, 0x1c(a1)
  sw a2, 0(a1)
  sw t2, 4(a1)
  sw t5, 8(a1)
2:
  lw t6, 0x24(a1)
  andi t6, t6, 1
  bnez t6, 2b
  csrr s11, mcycle
  addi s5, s5, -1
  bnez s5, 1b
  sub s11, s11, s10
  li t1, RESULTS
  sw s11, 0(t1)
  ret
main:
  ret
"""


def _lines(count: int) -> str:
    """Lines of code that note the time at their end and return."""
    return "  addi t3, t3, 1\n" * (4 * count - 2) + "  csrr s11, mcycle\n  ret\n"


def short_kernel(lines: int, cores_apart: int = 0) -> str:
    """Straight code of some lines, called twice: its cycles cold, then warm, of each core.

    With `cores_apart` every core has lines of its own, so that the refills of all of them compete.
    """
    count = 8 if cores_apart else 1
    blocks = "".join(f".align 4\nkernel{n}:\n{_lines(lines)}" for n in range(count))
    choose = "  la t0, kernel0\n"
    if cores_apart:
        choose += f"  li t1, {16 * lines}\n  mul t1, t1, s1\n  add t0, t0, t1\n"
    return f"""
.text
main:
  mv s4, ra
{choose}
  li s6, RESULTS
  slli t1, s1, 2
  add s6, s6, t1
  li s5, 2
  j 1f
.align 7
1:
  p_elw t1, 0x21c, s0
  csrr s10, mcycle
  jalr ra, 0(t0)
  sub s11, s11, s10
  sw s11, 0(s6)
  addi s6, s6, 32
  p_elw t1, 0x21c, s0
  addi s5, s5, -1
  bnez s5, 1b
  mv ra, s4
  ret
{blocks}
"""


def lines_of_one_set(count: int, passes: int) -> str:
    """Jump through lines that share a set of the private cache, again and again: replacement decides how many miss."""
    body = "".join(
        f".align 7\n  addi t3, t3, 1\n  nop\n  nop\n  j {'2f' if n == count - 1 else f'1{n}f'}\n.align 7\n1{n}:\n"
        for n in range(count)
    )
    return f"""
.text
main:
  li s5, {passes}
  li s6, RESULTS
  csrr s10, mcycle
  j 1f
.align 7
1:
{body}
2:
  addi s5, s5, -1
  bnez s5, 1b
  csrr s11, mcycle
  sub s11, s11, s10
  sw s11, 0(s6)
  ret
"""


def float_chain(instruction: str) -> str:
    """Four dependent float instructions on every core."""
    return rounds(
        f"""
  csrr s10, mcycle
{(instruction + chr(10)) * 4}
  csrr s11, mcycle
{STORE_MINE}
""",
        before="  li t0, 0x6000\n  csrs mstatus, t0\n  li t0, 0x40490fdb\n  fmv.w.x fa0, t0\n  fmv.w.x fa1, t0\n",
    )


# A loop of the controller in L2, and the same with a load of a cluster register: cycles of its clock.
CONTROLLER_LOOPS = """
.text
controller_main:
  li t0, L2
  li t2, 0x10200008
  li s5, 3
  j 1f
.align 7
1:
  csrr s10, mcycle
  li t3, 100
2:
  lw t1, 0(t0)
  addi t1, t1, 1
  sw t1, 0(t0)
  addi t3, t3, -1
  bnez t3, 2b
  csrr s11, mcycle
  li t3, 20
3:
  lw t1, 0(t2)
  addi t3, t3, -1
  bnez t3, 3b
  csrr s9, mcycle
  addi s5, s5, -1
  bnez s5, 1b
  sub s9, s9, s11
  sub s11, s11, s10
  li t1, RESULTS
  sw s11, 0(t1)
  sw s9, 4(t1)
  ret
main:
  ret
"""

# The controller with its cache as reset left it: the first pass through 32 lines, then the second.
CONTROLLER_COLD = f"""
.text
controller_main:
  mv s4, ra
  la t0, kernel0
  li s6, RESULTS
  li s5, 2
  j 1f
.align 7
1:
  csrr s10, mcycle
  jalr ra, 0(t0)
  sub s11, s11, s10
  sw s11, 0(s6)
  addi s6, s6, 4
  addi s5, s5, -1
  bnez s5, 1b
  mv ra, s4
  ret
.align 4
kernel0:
{_lines(32)}
main:
  ret
"""

# Core 0 hands two words to the others, which sleep: until the first has both, until all meet again.
DISPATCH = rounds("""
  bnez s1, 1f
  li t3, 40
4:
  addi t3, t3, -1
  bnez t3, 4b
  li t4, (1 << CORES) - 2
  sw t4, 0x84(s0)
  csrr s10, mcycle
  sw t3, 0x80(s0)
  sw t4, 0x80(s0)
  p_elw t1, 0x21c, s0
  csrr s11, mcycle
  li t1, RESULTS
  sub t3, s11, s10
  sw t3, 0(t1)
  lw t4, 8(t1)
  sub t4, t4, s10
  sw t4, 4(t1)
  j 2f
1:
  p_elw t3, 0x80, s0
  p_elw t4, 0x80, s0
  csrr s11, mcycle
  li t1, RESULTS
  li t2, 1
  bne s1, t2, 3f
  sw s11, 8(t1)
3:
  p_elw t1, 0x21c, s0
2:
""")

# Lock and unlock a mutex four times: alone, then all cores.
MUTEX = rounds(f"""
  csrr s10, mcycle
{
    '''  p_elw t2, 0xc0, s0
  nop
  sw t2, 0xc0(s0)
'''
    * 4
}
  csrr s11, mcycle
  p_elw t1, 0x21c, s0
{STORE_MINE}
""")
