"""Xdma: what transfers do and what they take."""

import struct

import pytest

from tests.sim.assembler import repeat
from tests.sim.snitch.guest import DMA_CORE, machine_for, on_core, run_guest
from tvm_pulp.errors import GuestFault

SET_UP = "  li a2, L1\n  la a3, buffer\n  li a4, {bytes}\n  li a5, 0\n  dmsrc {source}, x0\n  dmdst {target}, x0\n"
WAIT = "3:\n  dmstati t3, 2\n  bnez t3, 3b\n"
BUFFER = "\n.data\n.align 12\nbuffer: .space 16384\n"


def store_cycles(copies: str) -> int:
    """From the first dmcpy to the end of a loop that waits for idle, code in the cache; a poll takes five cycles."""
    text = "  li s2, 2\n1:\n" + SET_UP.format(bytes=4096, source="a2", target="a3")
    text += f"  begin\n{copies}{WAIT}  end 0\n  addi s2, s2, -1\n  bnez s2, 1b\n"
    return run_guest(on_core(DMA_CORE, text) + BUFFER)[1][0]


def test_store_of_4_kib() -> None:
    assert 72 <= store_cycles("  dmcpyi t4, a4, 0\n") <= 77 + 5


def test_three_transfers_back_to_back() -> None:
    three = "  dmcpyi t4, a4, 0\n  dmcpyi t4, a4, 0\n  li a4, 192\n  dmcpyi t4, a4, 0\n"
    assert 150 <= store_cycles(three) <= 160 + 5


def test_rows_with_strides() -> None:
    text = SET_UP.format(bytes=48, source="a3", target="a2")
    text += "  li t4, 100\n  li t5, 64\n  dmstr t4, t5\n  li t6, 7\n  dmrep t6\n  dmcpyi t3, a4, 2\n" + WAIT
    machine = machine_for(on_core(DMA_CORE, text) + BUFFER)
    address = machine.symbol("buffer")
    data = bytes(i * 7 % 251 for i in range(1024))
    machine.write(address, data)
    machine.write(0x10000000, b"\xee" * 1024)
    machine.run(max_cycles=100_000)
    found = machine.read(0x10000000, 7 * 64)
    for row in range(7):
        assert found[row * 64 : row * 64 + 48] == data[row * 100 : row * 100 + 48]
        assert found[row * 64 + 48 : row * 64 + 64] == b"\xee" * 16


def test_ids_start_at_two_and_are_complete_in_order() -> None:
    text = SET_UP.format(bytes=64, source="a2", target="a3")
    text += "  li s2, RESULTS\n  dmstati t3, 0\n  sw t3, 0(s2)\n  dmstati t3, 1\n  sw t3, 4(s2)\n"
    text += "  dmcpyi t3, a4, 0\n  dmcpyi t4, a4, 0\n  sw t3, 8(s2)\n  sw t4, 12(s2)\n" + WAIT
    text += "  dmstati t3, 0\n  sw t3, 16(s2)\n  dmstati t3, 3\n  sw t3, 20(s2)\n"
    _, found = run_guest(on_core(DMA_CORE, text) + BUFFER)
    assert found[:6] == (1, 2, 2, 3, 3, 0)


def test_zero_memory_clears() -> None:
    text = "  li a2, ZEROS\n  li a3, L1\n  li a4, 1000\n  dmsrc a2, x0\n  dmdst a3, x0\n  dmcpyi t3, a4, 0\n" + WAIT
    machine = machine_for(on_core(DMA_CORE, text))
    machine.write(0x10000000, b"\xff" * 1024)
    machine.run(max_cycles=100_000)
    assert machine.read(0x10000000, 1024) == bytes(1000) + b"\xff" * 24


def test_the_ninth_command_in_the_queue_waits() -> None:
    ten = SET_UP.format(bytes=4096, source="a2", target="a3") + "  begin\n" + "  dmcpyi t4, a4, 0\n" * 10
    _, found = run_guest(on_core(DMA_CORE, ten + "  end 0\n" + WAIT) + BUFFER)
    assert 64 < found[0] < 64 + 200


def test_a_beat_wins_over_a_core() -> None:
    """A core that stores to one superbank meets a beat every four cycles while a transfer runs."""
    text = """
main:
  li s2, 2
1:
  barrier
  li t0, 8
  bne a0, t0, 2f
  li a2, L1 + 0x1000
  la a3, buffer
  li a4, 4096
  dmsrc a3, x0
  dmdst a2, x0
{copy}
2:
  bnez a0, 4f
  li t5, L1
  begin
{walk}
  fence
  end 0
4:
  addi s2, s2, -1
  bnez s2, 1b
  ret
"""
    text = text.replace("{walk}", repeat("  sw x0, 0(t5)", 40)) + BUFFER
    quiet = run_guest(text.replace("{copy}", ""))[1][0]
    disturbed = run_guest(text.replace("{copy}", "  dmcpyi t3, a4, 0\n"))[1][0]
    assert quiet + 4 < disturbed < quiet + 16


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "  li a2, 0x70000000\n  dmsrc a2, x0\n  li a2, L1\n  dmdst a2, x0\n  li a4, 4\n  dmcpyi t3, a4, 0\n",
            "leaves",
        ),
        ("  li a2, ZEROS\n  dmdst a2, x0\n  li a2, L1\n  dmsrc a2, x0\n  li a4, 4\n  dmcpyi t3, a4, 0\n", "leaves"),
        ("  dmcpyi t3, x0, 0\n", "no bytes"),
    ],
)
def test_transfers_that_cannot_be(code: str, words: str) -> None:
    with pytest.raises(GuestFault, match=words):
        run_guest(on_core(DMA_CORE, code))


def test_workers_have_no_dma() -> None:
    with pytest.raises(GuestFault, match="illegal instruction"):
        run_guest(on_core(0, "  dmstati t3, 2\n"))


def test_words_of_the_instructions() -> None:
    """Words as the manual gives them, executed: a copy of two rows by dmsrc, dmdst, dmstr, dmrep, dmcpy, dmstat."""
    words = {
        "dmsrc a2, a3": 0x00D6002B,
        "dmdst a0, a1": 0x02B5002B,
        "dmstr a6, a5": 0x0CF8002B,
        "dmrep a7": 0x0E08802B,
        "dmcpyi a0, a4, 2": 0x0427052B,
        "dmstati t0, 2": 0x082002AB,
    }
    code = "  la a2, buffer\n  li a3, 0\n  li a0, L1\n  li a1, 0\n  li a6, 32\n  li a5, 8\n  li a7, 2\n  li a4, 8\n"
    code += "".join(f"  .4byte {words[name]:#x}\n" for name in list(words)[:5])
    code += f"3:\n  .4byte {words['dmstati t0, 2']:#x}\n  bnez t0, 3b\n"
    # One row by dmcpyi without dimensions, one by dmcpy; then the status by a register.
    code += "  li a0, L1 + 64\n  li a5, 0\n  .4byte 0x02B5002B\n  .4byte 0x0407052B\n  li a0, L1 + 128\n"
    code += "  .4byte 0x02B5002B\n  .4byte 0x06F7052B\n  li a1, 2\n4:\n  .4byte 0x0AB002AB\n  bnez t0, 4b\n"
    machine = machine_for(on_core(DMA_CORE, code) + BUFFER)
    data = struct.pack("<16I", *range(100, 116))
    machine.write(machine.symbol("buffer"), data)
    machine.run(max_cycles=100_000)
    assert machine.read(0x10000000, 16) == data[:8] + data[32:40]
    assert machine.read(0x10000040, 8) == machine.read(0x10000080, 8) == data[:8]
