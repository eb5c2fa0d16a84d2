"""Whatever a program does wrong ends the run with a report that names core, place and reason."""

import struct

import pytest

from tests.sim.guest import machine_for
from tests.sim.isa.rv32_encode import jalr, lui
from tvm_pulp import soc
from tvm_pulp.errors import GuestFault, UserError
from tvm_pulp.sim.iss import Machine

# 16 bytes from L3; nothing waits for their end.
HYPERBUS = """li a1, 0x1a102280
li t0, 0x1a102000
li t1, 0x10
sw t1, 0(t0)
li t1, 5
sw t1, 0x18(a1)
li t1, {l3}
sw t1, 0x1c(a1)
li t1, {l2}
sw t1, 0(a1)
li t1, 16
sw t1, 4(a1)
sw t1, 8(a1)
1: j 1b"""

# name -> (code, what the message contains)
FAULTS = {
    "wild load": ("li t0, 0x40000000\nlw t1, 0(t0)", ["nothing is mapped", "load of 4", "0x40000000", "core 0"]),
    "wild store": ("li t0, 0x1c200000\nsb t1, 0(t0)", ["nothing is mapped", "store of 1", "0x1c200000"]),
    "past L1": ("li t0, 0x1003fffe\nlw t1, 0(t0)", ["nothing is mapped", "0x10040000"]),
    "unmapped cluster register": ("li t0, 0x10203000\nlw t1, 0(t0)", ["nothing is mapped", "0x10203000"]),
    "byte access to a register": ("lb t1, 0(s0)", ["aligned 32-bit", "0x10204000"]),
    "misaligned register": ("lw t1, 2(s0)", ["aligned 32-bit", "0x10204002"]),
    "unknown CSR": ("csrr t1, 0x7ff", ["illegal instruction", "0x7ff02373"]),
    "reserved encoding": (".4byte 0xffffffff", ["illegal instruction", "0xffffffff"]),
    "all zero": (".2byte 0", ["illegal instruction", "0x0000"]),
    "jump into the void": ("li t0, 0x20000000\njr t0", ["no code memory", "0x20000000"]),
    "environment call": ("ecall", ["ecall"]),
    "loop that ends with a branch": (
        "lp_setupi 4, 2f\nnop\nnop\n2: bnez zero, 2b",
        ["hardware loop ends with a jump or branch"],
    ),
    "DMA without a counter": (
        "li t0, DMA\nli t1, 0x140040\nsw t1, 0(t0)\nsw t1, 0(t0)\nsw t1, 0(t0)",
        ["without an allocated counter"],
    ),
    "DMA out of memory": (
        "li t0, DMA\nlw t2, 0(t0)\nli t1, 0x160040\nsw t1, 0(t0)\nsw zero, 0(t0)\nli t1, 0x30000000\nsw t1, 0(t0)\n"
        "li t1, 0x100\nsw t1, 0(s0)\np_elw t1, 0x3c, s0",
        ["DMA transfer", "leaves the memories", "0x30000000"],
    ),
    "HyperBus out of L2": (HYPERBUS.format(l3="0x100", l2="L2 + 0xffff8"), ["leaves L2 or L3", "0x1c1ffff8"]),
    "HyperBus out of L3": (HYPERBUS.format(l3="0x7ffff8", l2="L2"), ["leaves L2 or L3", "0x007ffff8"]),
    "deadlock": ("sw zero, 0(s0)\np_elw t1, 0x3c, s0", ["deadlock", "core 0 at pc", "mask 0x00000000", "controller"]),
    "masked dispatch": ("sw zero, 0(s0)\np_elw t1, 0x80, s0", ["deadlock", "event 18 is masked"]),
    "endless loop": ("1: j 1b", ["limit of 100000 cycles"]),
    "endless loop with memory accesses": ("1: lw t0, -4(sp)\nj 1b", ["limit of 100000 cycles"]),
    "endless hardware loop": (
        "li t0, -1\n1: .4byte 0x407b | (5 << 15) | (((2f - 1b) / 2) << 20)\nnop\nnop\n2: nop",
        ["limit of 100000 cycles"],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_report(name: str) -> None:
    code, expected = FAULTS[name]
    machine = machine_for(f".text\nmain:\n  nop\n{code}\n  ret\n")
    with pytest.raises(GuestFault) as caught:
        machine.run(max_cycles=100_000)
    for part in expected:
        assert part in str(caught.value), str(caught.value)


def test_report_names_the_nearest_symbol() -> None:
    machine = machine_for(".text\nmain:\n  nop\n  .4byte 0xffffffff\n")
    with pytest.raises(GuestFault, match=rf"pc 0x{machine.symbol('main') + 4:08x} \(main\+0x4\)"):
        machine.run()


def test_controller_has_no_core_port() -> None:
    machine = machine_for(".text\ncontroller_main:\n  li t0, EVENTS\n  lw t1, 0(t0)\n  ret\nmain: ret\n")
    with pytest.raises(GuestFault, match="controller at pc"):
        machine.run()


def test_float_needs_a_core_that_has_it() -> None:
    text = ".text\nmain:\n  fmv.w.x f0, zero\n  fadd.s f1, f0, f0\n  ret\n"
    machine_for(text).run()
    with pytest.raises(GuestFault, match="illegal instruction"):
        machine_for(text, settings={"cluster.isa.single_float": False}).run()


def test_xpulp_needs_a_core_that_has_it() -> None:
    text = ".text\nmain: ret\n"  # the start code uses p.elw
    with pytest.raises(GuestFault, match="illegal instruction"):
        machine_for(text, settings={"cluster.isa.xpulp": False}).run()


def test_a_lone_core_has_no_alias_of_its_memory_at_zero() -> None:
    machine = Machine(soc.load("rv32-mcu"))
    code = struct.pack("<2I", lui(5, 1), jalr(0, 5, 0))
    machine.write(0x01000000, code)
    machine.start_core(0, 0x01000000)
    with pytest.raises(GuestFault, match="jump to an address that holds no code memory, address 0x00001000"):
        machine.run(max_cycles=100_000)


def test_run_without_a_program() -> None:
    with pytest.raises(GuestFault, match="no core was started"):
        Machine(soc.load("siracusa")).run()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not an ELF file"),
        (b"\x7fELF", "not a 32-bit little-endian"),
        (b"\x7fELF\x02\x01\x01" + bytes(60), "not a 32-bit little-endian"),
        (b"\x7fELF\x01\x01\x01" + bytes(60), "no RISC-V executable"),
    ],
)
def test_malformed_elf(content: bytes, reason: str) -> None:
    from tvm_pulp.sim.iss.elf import read_elf

    with pytest.raises(UserError, match=reason):
        read_elf(content)


def test_every_truncation_of_an_elf_is_refused_or_read() -> None:
    from tests.sim.guest import assemble
    from tvm_pulp.sim.iss.elf import read_elf

    content = assemble(".text\nmain: ret\n")
    for size in range(0, len(content), 7):
        with pytest.raises(UserError):
            read_elf(content[:size])
    for position in range(16, 52):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        try:
            read_elf(bytes(damaged))
        except UserError as error:
            assert "ELF" in str(error) or "executable" in str(error) or "load" in str(error)
