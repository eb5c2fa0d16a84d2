"""Engines that run whole heads: registers, results and time of the model."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.uma_backends.flat_machine import L1_BASE, NEVER, Machine, ModelLibrary
from tvm_pulp.errors import GuestFault, UserError
from uma_backends.ita.heads import HeadSizes

from .head_reference import RULES, Head

STATE, START_ADDR, OUT_ADDR, RQS_ADDR, SIZES = 0x00, 0x04, 0x08, 0x0C, 0x10
BUSY, DONE = 2, 4
TABLES, OUTPUTS = L1_BASE + 0x3F000, L1_BASE + 0x30000

Make = Callable[..., Machine]


@pytest.fixture(scope="module")
def library() -> ModelLibrary:
    """The C model with run-time checks."""
    return ModelLibrary.build("ita", sanitize=True)


def prepare(machine: Machine, number: int, blob: int, out: int, sizes: tuple[int, int, int]) -> None:
    for offset, value in ((START_ADDR, blob), (OUT_ADDR, out), (RQS_ADDR, TABLES)):
        machine.write(0x30 * number + offset, value)
    for i, size in enumerate(sizes):
        machine.write(0x30 * number + SIZES + 4 * i, size)


def write_rules(machine: Machine) -> None:
    machine.write_l1(TABLES, np.array([TABLES + 16, TABLES + 24, TABLES + 32], np.uint32))
    multipliers, shifts, adds = zip(*RULES, strict=True)
    machine.write_l1(TABLES + 16, np.array(multipliers, np.uint8))
    machine.write_l1(TABLES + 24, np.array(shifts, np.uint8))
    machine.write_l1(TABLES + 32, np.array(adds, np.int32))


def test_two_engines_at_once_read_positions_from_the_first(make_machine: Make) -> None:
    """The second block's own q and k are not looked at; both end after the same time; busy time counts once."""
    s, e, p = 64, 64, 128
    machine, random = make_machine(head_engines=4), np.random.default_rng(5)
    x = [random.integers(-128, 128, (s, e)).astype(np.int8) for _ in range(4)]
    heads = [Head.random(random, e, p, RULES) for _ in range(2)]
    write_rules(machine)
    blobs = [L1_BASE, L1_BASE + 0x10000]
    for head, blob, q, k in zip(heads, blobs, x[::2], x[1::2], strict=True):
        machine.write_l1(blob, np.frombuffer(head.operands(q, k), np.uint8))
    for number, blob in enumerate(blobs):
        prepare(machine, number, blob, OUTPUTS + number * s * e, (s, e, p))
    cycles = HeadSizes(s, e, p).cycles({})
    assert cycles == 256 * (4 * 2 + 2 * 2) + 200
    for number in range(2):
        machine.cycle = 10 * number
        machine.write(0x30 * number + STATE, 0x11)
        assert machine.read(0x30 * number + STATE) & (BUSY | DONE) == BUSY
    assert machine.next_event() == cycles
    machine.advance(cycles)
    assert [machine.read(0x30 * i + STATE) & (BUSY | DONE) for i in range(2)] == [DONE, BUSY]
    machine.advance(cycles + 10)
    for number, head in enumerate(heads):
        found = machine.read_l1(OUTPUTS + number * s * e, (s, e), np.int8)
        np.testing.assert_array_equal(found, head.apply(x[0], x[1]))
        assert len(np.unique(found)) > 50
    counted = machine.statistics
    assert (counted["jobs"], counted["busy_cycles"], counted["macs"]) == (2, cycles + 10, 2 * s * p * (4 * e + 2 * s))
    machine.write(STATE, 0)
    assert machine.read(STATE) & DONE == 0 and machine.next_event() == NEVER


def test_a_wide_head_takes_as_long_as_its_operands(make_machine: Make) -> None:
    """With a narrow port the fetch decides, and the parameters are those of the compiler's estimate."""
    machine, parameters = (
        make_machine(head_engines=1, fetch_bytes=2, start_cycles=7),
        {"fetch_bytes": 2, "start_cycles": 7},
    )
    write_rules(machine)
    prepare(machine, 0, L1_BASE, OUTPUTS, (64, 64, 64))
    machine.write(STATE, 1)
    assert machine.next_event() == HeadSizes(64, 64, 64).cycles(parameters) == (4 * 4096 + 2 * 4096 + 1024) // 2 + 7


@pytest.mark.parametrize("delays", [[0], [0, 3, 0, 0], [1]])
def test_beats_that_wait_for_banks_hold_their_engine_up(make_machine: Make, delays: list[int]) -> None:
    """Every beat of operands and output asks for its banks once; the head ends as much later as all of them waited,
    is claimed until then, and gives the same result."""
    s, e, p = 64, 64, 64
    machine, random = make_machine(head_engines=2, delays=delays * 4096), np.random.default_rng(6)
    x = [random.integers(-128, 128, (s, e)).astype(np.int8) for _ in range(2)]
    head = Head.random(random, e, p, RULES)
    write_rules(machine)
    machine.write_l1(L1_BASE, np.frombuffer(head.operands(*x), np.uint8))
    prepare(machine, 0, L1_BASE, OUTPUTS, (s, e, p))
    machine.write(STATE, 1)
    while machine.next_event() != NEVER:
        machine.advance(machine.next_event())
    sizes = HeadSizes(s, e, p)
    assert machine.accesses == (sizes.bytes + s * e) // 16
    waited = sum((delays * 4096)[: machine.accesses])
    assert machine.statistics["busy_cycles"] == sizes.cycles({}) + waited
    assert max(claim.end_cycle for claim in machine.claims) == sizes.cycles({}) + waited
    np.testing.assert_array_equal(machine.read_l1(OUTPUTS, (s, e), np.int8), head.apply(*x))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((SIZES, 60), "multiples of 16"),
        ((START_ADDR, 0x7000_0000), "operands at 0x70000000"),
        ((OUT_ADDR, 0x7000_0000), "output at 0x70000000"),
        ((RQS_ADDR, 0x7000_0000), "RQS_ADDR 0x70000000 is in no memory"),
        ((STATE, 0x21), "more than one iteration"),
        ((0x1C, 0), "no register at offset 0x1c"),
    ],
)
def test_what_the_engines_do_not_do_stops_the_simulation(
    make_machine: Make, change: tuple[int, int], reason: str
) -> None:
    machine = make_machine(head_engines=2)
    write_rules(machine)
    prepare(machine, 0, L1_BASE, OUTPUTS, (64, 64, 64))
    with pytest.raises(GuestFault, match=reason):
        machine.write(*change)
        machine.write(STATE, 1)


def test_registers_of_a_working_engine_are_left_alone(make_machine: Make) -> None:
    machine = make_machine(head_engines=2)
    write_rules(machine)
    prepare(machine, 0, L1_BASE, OUTPUTS, (64, 64, 64))
    machine.write(STATE, 1)
    with pytest.raises(GuestFault, match="was written while it works"):
        machine.write(START_ADDR, 0)


def test_there_are_four_engines_at_most(make_machine: Make) -> None:
    with pytest.raises(UserError, match="head_engines of ita is 5, choose 0 to 4"):
        make_machine(head_engines=5)


def test_damaged_registers_end_in_a_fault_or_in_a_result(library: ModelLibrary) -> None:
    """Whatever the registers and tables hold, the model does not leave its memory."""
    random, faults = np.random.default_rng(8), 0
    for _ in range(40):
        with Machine(library, {"head_engines": 2}) as machine:
            write_rules(machine)
            for number in range(2):
                prepare(machine, number, L1_BASE + 0x4000 * number, OUTPUTS, (64, 16, 32))
            for _ in range(int(random.integers(1, 4))):
                offset = int(random.choice([0x04, 0x08, 0x0C, 0x10, 0x14, 0x18]))
                flipped = machine.read(offset) ^ 1 << int(random.integers(32))
                machine.write(offset, flipped)
            machine.l1[TABLES - L1_BASE + int(random.integers(12))] ^= np.uint8(1 << int(random.integers(8)))
            try:
                for number in range(2):
                    machine.write(0x30 * number, 1)
                machine.advance(machine.next_event())
            except GuestFault:
                faults += 1
    assert 0 < faults < 40
