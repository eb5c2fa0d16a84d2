"""All cluster cores run the same code at the same time with loop registers of their own.

Loop ends are a property of the core, not of the code: each core loops a different number of times over shared
instructions, and some do not loop at all. Loads at the loop end let cores overtake each other there.
"""

import pytest

from tvm_pulp import soc
from tvm_pulp.sim.iss.machine import Machine

from . import rv32_encode as rv
from .encode import i_type, u12_type
from .image import L1_BASE, L2_CODE, Encoded, exit_stub, join_code
from .loop_builder import LOOP_FORMS

CORES = 8
RESULTS = L1_BASE + 0x100
DONE = L1_BASE + 0x200
TABLE = L1_BASE + 0x1000


def program(setup_count: int, access: int) -> bytes:
    """x10 = core number; x11 = table, x12 = count; x5 sums loaded words, x6 counts passes."""
    words = [
        rv.csr_op("csrrs", 10, 0xF14, 0),
        *rv.load_constant(11, TABLE),
        rv.immediate_op("addi", 12, 10, setup_count),
        rv.immediate_op("addi", 5, 0, 0),
        rv.immediate_op("addi", 6, 0, 0),
        rv.immediate_op("addi", 13, 0, 0),
        # lp.setup 0, x12: three instructions, the last one six half-words away
        u12_type(0x7B, LOOP_FORMS["lp.setup"], 0, 12, 6),
        rv.immediate_op("addi", 6, 6, 1),
        rv.register_op("add", 5, 5, 13),
        access,
        rv.register_op("add", 5, 5, 13),
        *rv.load_constant(14, RESULTS),
        rv.shift_op("slli", 15, 10, 3),
        rv.register_op("add", 14, 14, 15),
        rv.store("sw", 5, 14, 0),
        rv.store("sw", 6, 14, 4),
        *rv.load_constant(16, DONE),
        rv.register_op("add", 17, 16, 10),
        rv.immediate_op("addi", 18, 0, 1),
        rv.store("sb", 18, 17, 0),
        # Cores 1 to 7 stop here; core 0 waits for all flags.
        rv.branch("beq", 10, 0, 8),
        rv.jal(0, 0),
        *rv.load_constant(19, 0x01010101),
        rv.load("lw", 20, 16, 0),
        rv.branch("bne", 20, 19, -4),
        rv.load("lw", 20, 16, 4),
        rv.branch("bne", 20, 19, -4),
    ]
    return join_code(Encoded("", word) for word in words) + exit_stub()


@pytest.mark.parametrize("step", [0, 4, 3], ids=["same bank", "next bank", "misaligned"])
@pytest.mark.parametrize("first_count", [0, 1, 20])
def test_each_core_loops_its_own_number_of_times(first_count: int, step: int) -> None:
    machine = Machine(soc.load("siracusa"))
    # p.lw x13, step(x11!)
    machine.write(L2_CODE, program(first_count, i_type(0x0B, 2, 13, 11, step)))
    table = bytes(range(1, 129))
    machine.write(TABLE, table)
    for core in range(CORES):
        machine.start_core(core, L2_CODE, {})
    machine.run(max_cycles=1_000_000)
    for core in range(CORES):
        passes = max(first_count + core, 1)
        loaded = sum(int.from_bytes(table[step * index :][:4], "little") for index in range(passes))
        result = machine.read(RESULTS + 8 * core, 8)
        seen = int.from_bytes(result[:4], "little"), int.from_bytes(result[4:], "little")
        assert seen == (loaded & 0xFFFFFFFF, passes), f"core {core}"
