"""Debugger, calls, traces and checks of reads on Snitch cores: they show what happened and change nothing."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.sim.gdb_client import DebuggedRun
from tests.sim.snitch.guest import assemble, machine_for
from tvm_pulp import soc
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss import Machine
from tvm_pulp.sim.iss.attach import Attached

# Core 3 calls, multiplies, stores and adds atomically; the last core moves what core 3 stored.
PROGRAM = """
main:
  mv s2, ra
  li t0, 3
  bne a0, t0, 1f
  call work
1:
  barrier
  li t0, 8
  bne s1, t0, 2f
  li t0, L1 + 0x100
  dmsrc t0, x0
  li t0, L1 + 0x208
  dmdst t0, x0
  li t0, 8
  dmcpyi t1, t0, 0
3: dmstati t2, 0
  bne t1, t2, 3b
2:
  mv ra, s2
  ret
work:
  li t0, L1 + 0x100
  li t1, 77
stores:
  sw t1, 0(t0)
  lw t3, 0(t0)
  mul t3, t3, t3
  addi t4, t0, 4
  sw t3, 0(t4)
adds:
  amoadd.w t5, t1, (t4)
registers:
  li t0, REGISTERS + 0x80
  li t1, 5
  sw t1, 0(t0)
  ret
"""


def debugged(text: str, name: str) -> tuple[Machine, DebuggedRun]:
    machine = Machine(soc.load(name), observe=True)
    machine.load_elf(assemble(text))
    return machine, DebuggedRun(machine, lambda: machine.run(1_000_000))


def test_a_debugger() -> None:
    plain = machine_for(PROGRAM).run(1_000_000)
    machine, run = debugged(PROGRAM, "snitch-ita")
    gdb = run.client
    assert gdb.ask("qfThreadInfo") == "m1,2,3,4,5,6,7,8,9"
    assert {"pc", "mhartid", "minstret"} <= set(gdb.names) and not {"ft3", "lpcount0"} & set(gdb.names)
    assert gdb.ask(f"Z1,{machine.symbol('stores'):x},4") == "OK"
    assert gdb.until(3) == (3, "swbreak:;")
    seen = gdb.registers(3)
    assert (seen["pc"], seen["t1"], seen["mhartid"]) == (machine.symbol("stores"), 77, 3)
    assert gdb.go("vCont;s:4;c") == (3, "05") and gdb.registers(3)["pc"] == machine.symbol("stores") + 4
    # An access by an alias of L1, by an atomic operation, of a register, and of the DMA.
    assert gdb.ask("Z3,10000100,4") == "OK" and gdb.go() == (3, "rwatch:10000100;")
    assert gdb.ask("z3,10000100,4") == "OK" and gdb.ask("Z2,10000104,4") == "OK"
    assert gdb.go() == (3, "watch:10000104;") and gdb.read(0x10000104, 4) == (77 * 77).to_bytes(4, "little")
    assert gdb.go() == (3, "watch:10000104;") and gdb.registers(3)["pc"] == machine.symbol("registers")
    assert gdb.read(0x10000104, 4) == (77 * 78).to_bytes(4, "little")
    assert gdb.ask("z2,10000104,4") == "OK" and gdb.ask("Z4,10020080,4") == "OK"
    assert gdb.go() == (3, "awatch:10020080;") and gdb.read(0x10020080, 4) == b"\x05\0\0\0"
    assert gdb.ask("z4,10020080,4") == "OK" and gdb.ask("Z2,10000208,8") == "OK"
    assert gdb.go()[1] == "watch:10000208;" and gdb.read(0x10000208, 4) == b"\x4d\0\0\0"
    assert gdb.ask("z2,10000208,8") == "OK" and gdb.ask("vCont;c") == "W00"
    result = run.result()
    assert (result.cycles, result.cores) == (plain.cycles, plain.cores)


def test_a_debugger_at_the_alias_of_the_cluster() -> None:
    text = "main:\n  bnez a0, 1f\n  mv s2, ra\n  li t1, 0x18001000\n  jalr t1\n  mv ra, s2\n1: ret\n"
    _, run = debugged(text, "snitch-ita")
    gdb = run.client
    assert gdb.ask("M18001000,8:1300000067800000") == "OK"  # nop, ret
    assert gdb.read(0x10001000, 8) == gdb.read(0x18001000, 8) == bytes.fromhex("1300000067800000")
    assert gdb.ask("Z1,18001004,4") == "OK" and gdb.go() == (0, "swbreak:;")
    assert gdb.registers(0)["pc"] == 0x18001004
    assert gdb.ask("vCont;c") == "W00" and run.result().exit_code == 0


def test_everything_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cycles stay, every cycle of every core is in a function and in a span, and calls are listed."""
    plain = machine_for(PROGRAM).run(1_000_000)
    wanted = Instruments(
        trace=tmp_path / "trace.json", profile=tmp_path / "profile.json", log_calls=True, check_reads=True
    )
    machine = Machine(soc.load("snitch-ita"), observe=True, check_reads=True)
    machine.load_elf(assemble(PROGRAM))
    attached = Attached(machine, wanted, print, "program")
    result = machine.run(1_000_000)
    attached.finish(result)
    assert (result.cycles, result.cores) == (plain.cycles, plain.cores)
    profiles = json.loads((tmp_path / "profile.json").read_text())
    names = [frame["name"] for frame in profiles["shared"]["frames"]]
    assert {"main", "work"} <= set(names)
    assert [sum(p["weights"]) for p in profiles["profiles"]] == [core["cycles"] for core in result.cores]
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    spans: Counter[str] = Counter()
    for event in events:
        if event["ph"] == "X" and event["name"].startswith(("active", "waits")):
            spans[tracks[event["tid"]]] += event["dur"]
    assert [spans[machine.soc.core_name(core)] for core in range(9)] == [core["cycles"] for core in result.cores]
    assert "work" in capsys.readouterr().err


CASES = {
    "a word of L1": ("li t0, L1 + 0x100\nlw t1, 0(t0)", ["core 0 reads 4 byte(s) at 0x10000100", "at main+0x"]),
    "by its alias": ("li t0, 0x18000100\nlb t1, 0(t0)", ["core 0 reads 1 byte(s) at 0x10000100"]),
    "an atomic operation": ("li t0, L1 + 0x100\namoadd.w t1, t1, (t0)", ["core 0 reads 4 byte(s) at 0x10000100"]),
    "outside": ("li t0, 0x81000000\nlw t1, 0(t0)", ["core 0 reads 4 byte(s) at 0x81000000"]),
    "written before": ("li t0, L1 + 0x100\nsw t1, 0(t0)\nlw t1, 0(t0)\nli t0, 0x18000100\nlw t1, 0(t0)", []),
    "zeros": ("li t0, ZEROS\nlw t1, 0(t0)", []),
}


@pytest.mark.parametrize("name", CASES)
def test_who_reads_what(name: str) -> None:
    code, expected = CASES[name]
    _check_reads(f"main:\n  bnez a0, 1f\n{code}\n1: ret\n", expected)


def test_the_dma_reads() -> None:
    code = (
        "dmsrc t0, x0\nli t0, L1 + 0x800\ndmdst t0, x0\nli t0, 16\ndmcpyi t1, t0, 0\n2: dmstati t2, 0\nbne t1, t2, 2b"
    )
    for first, expected in (("L1 + 0x400", ["the DMA reads 16 byte(s) at 0x10000400"]), ("ZEROS", [])):
        _check_reads(f"main:\n  li t0, 8\n  bne a0, t0, 1f\n  li t0, {first}\n{code}\n1: ret\n", expected)


def _check_reads(text: str, expected: list[str]) -> None:
    machine = Machine(soc.load("snitch-ita"), check_reads=True)
    machine.load_elf(assemble(text))
    machine.undefine(0x81000000, 256)
    attached = Attached(machine, Instruments(check_reads=True), lambda _: None, "program")
    attached.finish(machine.run(100_000))
    found = attached.unwritten_reads
    assert bool(found) == bool(expected), found
    assert all(part in found[0] for part in expected), found
