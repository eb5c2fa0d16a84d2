"""The devices of the platform do what their registers promise."""

import json
import struct
from pathlib import Path

import pytest

from tests.sim.guest import RESULTS, assemble, machine_for, run_guest
from tvm_pulp import soc
from tvm_pulp.errors import UserError
from tvm_pulp.sim.iss import Machine
from tvm_pulp.tvmc.main import main as tvmc

IDEAL = {"icache.ideal": True}


def words(machine: Machine, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}I", machine.read(RESULTS, 4 * count))


def test_identity_and_aliases() -> None:
    text = """
.text
controller_main:
  csrr t0, mhartid
  li t1, RESULTS
  sw t0, 64(t1)
  li t2, 0x1c000100        # private L2 and its alias at 0
  li t3, 0x1234
  sw t3, 0(t2)
  lw t4, 0x100(zero)
  sw t4, 68(t1)
  ret
main:
  li t1, RESULTS
  slli t2, a0, 2
  add t1, t1, t2
  csrr t3, 0x014
  sw t3, 0(t1)
  bnez a0, 1f
  li t1, RESULTS
  li t2, 0x10000040        # L1, its alias at 0 and its test-and-set view
  li t3, 0x55
  sw t3, 0(t2)
  lw t4, 0x40(zero)
  sw t4, 72(t1)
  li t5, 0x10100040
  lw t4, 0(t5)
  sw t4, 76(t1)
  lw t4, 0(t2)
  sw t4, 80(t1)
  li t5, 0x00204000        # event unit at its alias
  lw t4, 0(t5)
  sw t4, 84(t1)
1:
  p_elw t1, 0x21c, s0
  ret
"""
    _, found = run_guest(text, 8)
    assert found[:8] == tuple(range(8))
    assert found[16:22] == (0x3E0, 0x1234, 0x55, 0x55, 0xFFFFFFFF, 0x70000)


def test_counters_of_the_performance_unit() -> None:
    text = """
.text
main:
  li t0, L1
  csrw 0xcc0, zero
  li t1, 0x1ffff
  csrw 0x79f, zero
  csrw 0xcc0, t1
  li t1, 1
  csrw 0xcc1, t1           # counting starts
  lw t2, 0(t0)
  addi t2, t2, 1           # load-use stall
  sw t2, 0(t0)
  li t3, L2
  lw t2, 0(t3)             # external load
  beq t2, t2, 1f           # taken, uses the load
1:
  bne t2, t2, 1b           # not taken
  c.nop
  csrw 0xcc1, zero         # counting stops
  li t4, RESULTS
  csrr t5, 0x780
  sw t5, 0(t4)
  csrr t5, 0x781
  sw t5, 4(t4)
  csrr t5, 0x782
  sw t5, 8(t4)
  csrr t5, 0x785
  sw t5, 20(t4)
  csrr t5, 0x786
  sw t5, 24(t4)
  csrr t5, 0x788
  sw t5, 32(t4)
  csrr t5, 0x789
  sw t5, 36(t4)
  csrr t5, 0x78a
  sw t5, 40(t4)
  csrr t5, 0x78c
  sw t5, 48(t4)
  csrr t5, 0x78e
  sw t5, 56(t4)
  ret
"""
    _, found = run_guest(text.replace("c.nop", ".2byte 1"), settings=IDEAL)
    # from the write that enables to the write that disables: lw addi sw li lw beq bne c.nop and the first write itself
    instructions = 9
    stalls = 1 + (14 + 1) + 2
    assert found[1] == instructions and found[0] == instructions + stalls
    assert found[2] == 2 and found[5] == 2 and found[6] == 1 and found[8] == 2 and found[9] == 1
    assert found[10] == 1 and found[12] == 1 and found[14] == 14


def test_timer_counts_and_raises_its_event() -> None:
    text = """
.text
main:
  li t0, 0x10200400
  li t1, 100
  sw t1, 0x10(t0)          # compare
  li t1, 0x400
  sw t1, 0(s0)             # unmask event 10
  li t1, 0x17              # enable, reset, interrupt, clear on compare
  csrr s10, mcycle
  sw t1, 0(t0)
  p_elw t2, 0x3c, s0
  csrr s11, mcycle
  sub s11, s11, s10
  li t3, RESULTS
  sw s11, 0(t3)
  sw t2, 4(t3)
  lw t4, 8(t0)
  lw t5, 8(t0)
  sub t5, t5, t4
  sw t5, 8(t3)
  li t1, 0x441             # enable, prescaler 4 + 1
  sw t1, 4(t0)
  lw t4, 0x0c(t0)
  lw t5, 0x0c(t0)
  lw t5, 0x0c(t0)
  lw t5, 0x0c(t0)
  lw t5, 0x0c(t0)
  lw t5, 0x0c(t0)
  sub t5, t5, t4
  sw t5, 12(t3)
  ret
"""
    _, found = run_guest(text, settings=IDEAL)
    assert 100 <= found[0] <= 108 and found[1] == 1 << 10
    assert found[2] == 3 and found[3] == 3  # three cycles between reads; five reads of three cycles, prescaled by five


def test_l3_round_trip() -> None:
    text = """
.text
controller_main:
  li a1, 0x1a102280
  li t0, 0x1a102000
  li t1, 0x10
  sw t1, 0(t0)
  li t2, L2
  li t3, 5
  sw t3, 0x18(a1)
  li t3, 0x100
  sw t3, 0x1c(a1)
  li t3, 1                 # lines of 8 bytes every 32 on the L3 side
  sw t3, 0x28(a1)
  li t3, 8
  sw t3, 0x2c(a1)
  li t3, 32
  sw t3, 0x30(a1)
  sw t2, 0(a1)
  li t3, 64
  sw t3, 4(a1)
  li t3, 0x10
  sw t3, 8(a1)
1:
  lw t4, 0x24(a1)
  bnez t4, 1b
  sw zero, 0x28(a1)
  li t3, 1
  sw t3, 0x18(a1)
  li t3, 0x2000
  sw t3, 0x1c(a1)
  sw t2, 0x0c(a1)
  li t3, 64
  sw t3, 0x10(a1)
  li t3, 0x10
  sw t3, 0x14(a1)
1:
  lw t4, 0x24(a1)
  bnez t4, 1b
  ret
main: ret
"""
    machine = machine_for(text)
    blob = bytes(range(256)) + bytes(100)
    machine.load_l3(0x100, blob)
    machine.run(max_cycles=100_000)
    expected = b"".join(blob[32 * line : 32 * line + 8] for line in range(8))
    assert machine.read(0x1C100000, 64) == expected
    assert machine.read_l3(0x2000, 64) == expected


def test_output_lines_of_cores_do_not_mix() -> None:
    text = """
.text
main:
  li t0, 0x1a10f000
  slli t1, a0, 3
  add t0, t0, t1
  addi t2, a0, 'A'
  sw t2, 0(t0)
  addi t2, a0, 'a'
  sw t2, 0(t0)
  li t2, 10
  sw t2, 0(t0)
  p_elw t1, 0x21c, s0
  ret
"""
    result, _ = run_guest(text, 4)
    assert sorted(result.stdout.split()) == ["Aa", "Bb", "Cc", "Dd"]


PARALLEL = """
.text
main:
  li t0, L1
  li t1, 500
  mv t3, a0
1:
  slli t2, t3, 2
  andi t2, t2, 0x3fc
  add t2, t2, t0
  lw t4, 0(t2)
  add t4, t4, t1
  sw t4, 0(t2)
  addi t3, t3, 3
  addi t1, t1, -1
  bnez t1, 1b
  p_elw t1, 0x21c, s0
  ret
"""


def test_runs_repeat_exactly() -> None:
    # Races between the cores on purpose: even they come out the same.
    runs = []
    for _ in range(2):
        machine = machine_for(PARALLEL, 8)
        result = machine.run()
        runs.append((result.cycles, result.instructions, result.cores, machine.read(0x10000000, 0x40000)))
    assert runs[0] == runs[1]


def test_slack_changes_neither_cycles_nor_results_of_race_free_programs() -> None:
    # Each core works on words of its own, then all meet at a barrier.
    text = PARALLEL.replace("slli t2, t3, 2\n  andi t2, t2, 0x3fc", "slli t2, t3, 2\n  andi t2, t2, 0x3e0")
    text = text.replace("add t2, t2, t0", "add t2, t2, t0\n  slli t5, s1, 2\n  add t2, t2, t5").replace(
        "addi t3, t3, 3", "addi t3, t3, 8"
    )
    quiet = {"memory.l1.conflicts": False}
    outcomes = []
    for slack in (0, 8, 64):
        machine = machine_for(text, 8, settings=quiet | {"timing.ordering_slack": slack})
        result = machine.run()
        outcomes.append((result.cycles, result.instructions, machine.read(0x10000000, 4096)))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("cores", [1, 3, 16])
def test_core_count_is_a_parameter(cores: int) -> None:
    machine = machine_for(PARALLEL, cores, settings={"cluster.cores": cores})
    result = machine.run()
    assert len(result.cores) == cores + 1
    assert all(core["instructions"] > 4000 for core in result.cores[:cores])


def test_breakdown_adds_up() -> None:
    result = machine_for(PARALLEL, 8).run()
    for core in result.report()["cores"]:
        assert sum(core["breakdown"].values()) == core["cycles"], core


def test_clock_ratio_slows_the_controller() -> None:
    text = """
.text
controller_main:
  li t0, 1000
1:
  addi t0, t0, -1
  bnez t0, 1b
  ret
main: ret
"""
    equal = machine_for(text, settings=IDEAL).run()
    slow = machine_for(text, settings=IDEAL | {"clock.soc_mhz": 250.0}).run()
    # The controller's 4000 cycles last 1.44 times as long in cluster cycles.
    assert 1.4 <= slow.cycles / equal.cycles <= 1.45


def test_start_core_without_a_controller() -> None:
    code = [0x1A1042B7, 0x80000337, 0x00A30333, 0x0A62A023, 0x0000006F]  # exit value = a0
    machine = Machine(soc.load("siracusa"))
    machine.write(0x1C010000, struct.pack("<5I", *code))
    machine.start_core(3, 0x1C010000, {10: 42})
    assert machine.run().exit_code == 42
    assert machine.core(3).x[10] == 42 and machine.core(3).x[5] == 0x1A104000
    with pytest.raises(ValueError, match="always 0"):
        machine.core(3).x[0] = 1


def test_self_modifying_code_needs_fence_i() -> None:
    text = """
.text
main:
  mv s2, ra
  li s3, 2
1:
  call patched
  la t0, patched
  la t1, other
  lw t1, 0(t1)
  sw t1, 0(t0)
  fence.i
  addi s3, s3, -1
  bnez s3, 1b
  li t0, RESULTS
  sw a0, 0(t0)
  mv ra, s2
  ret
patched:
  li a0, 1
  ret
other:
  li a0, 2
"""
    _, found = run_guest(text)
    assert found[0] == 2


def test_memory_bounds_of_the_interface() -> None:
    machine = Machine(soc.load("siracusa"))
    for address, size in ((0x1003FFFF, 2), (0x1C200000, 1), (0x20000000, 4), (0xFFFFFFFF, 8)):
        with pytest.raises(UserError, match="not inside one memory"):
            machine.write(address, bytes(size))
        with pytest.raises(UserError, match="not inside one memory"):
            machine.read(address, size)
    with pytest.raises(UserError, match="exceed"):
        machine.load_l3(0x7FFFFF, bytes(2))


def test_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
.text
main:
  li t0, 0x1a10f000
  li t1, 'x'
  sw t1, 0(t0)
  li t0, EXIT
  li t1, 0x80000005
  sw t1, 0(t0)
1: j 1b
"""
    program, report, trace = tmp_path / "p.elf", tmp_path / "r.json", tmp_path / "t.json"
    program.write_bytes(assemble(text))
    arguments = ["sim", str(program), "--set", "memory.l1.conflicts=false", "--max-cycles", "5000"]
    assert tvmc([*arguments, "--report", str(report), "--trace", str(trace)]) == 5
    captured = capfd.readouterr()
    assert captured.out == "x" and "cycles" in captured.err
    content = json.loads(report.read_text())
    assert content["soc"] == "siracusa" and content["exit_code"] == 5 and content["fault"] is None
    assert content["cores"][0]["breakdown"]["issue"] > 10 and content["host"]["mips"] > 0
    events = json.loads(trace.read_text())["traceEvents"]
    assert {"core 0", "controller"} <= {event["args"].get("name") for event in events}
    assert any(event["ph"] == "X" and event["dur"] > 0 for event in events)


def test_command_line_failures(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "p.elf"
    program.write_bytes(assemble(".text\nmain:\n  .4byte 0xffffffff\n"))
    assert tvmc(["sim", str(program)]) == 127
    assert "illegal instruction" in capfd.readouterr().err
    assert tvmc(["sim", str(tmp_path / "absent.elf")]) == 126
    assert tvmc(["sim", str(program), "--soc", "siracuse"]) == 126
    assert "did you mean 'siracusa'" in capfd.readouterr().err
    assert tvmc(["sim", str(program), "--set", "memory.l1.conflict=1"]) == 126
    assert "memory.l1.conflicts" in capfd.readouterr().err
    assert tvmc(["sim", str(program), "--soc", "host"]) == 126
    assert tvmc(["sim", str(program), "--max-cycles", "0"]) == 126
