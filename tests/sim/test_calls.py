"""Calls of a program: the log, and the profile whose cycles add up to those of every core."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.sim.guest import assemble
from tvm_pulp import soc
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.iss import Machine, RunResult
from tvm_pulp.sim.iss.attach import Attached
from tvm_pulp.tvmc.main import main as tvmc

PROGRAM = """
.text
main:
  mv s2, ra
  call outer
  call leaf
  mv ra, s2
  ret
outer:
  addi sp, sp, -16
  sw ra, 0(sp)
  call leaf
  li a0, 3
  call recursive
  lw ra, 0(sp)
  addi sp, sp, 16
  j tail
tail:
  li t0, 0x1c100000
  lw t1, 0(t0)
  ret
leaf:
  li t0, 100
  div t1, t0, t0
  ret
recursive:
  addi sp, sp, -16
  sw ra, 0(sp)
  beqz a0, 1f
  addi a0, a0, -1
  call recursive
1:
  lw ra, 0(sp)
  addi sp, sp, 16
  ret
"""


def run_with(instruments: Instruments, cores: int = 1) -> tuple[Machine, RunResult]:
    machine = Machine(soc.load("siracusa"), observe=True)
    machine.load_elf(assemble(PROGRAM, cores))
    attached = Attached(machine, instruments, print, "program")
    result = machine.run(1_000_000)
    attached.finish(result)
    return machine, result


def function_cycles(profile: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Cycles of each function itself, by cause, over all cores of a profile."""
    names = [frame["name"] for frame in profile["shared"]["frames"]]
    totals: dict[str, dict[str, int]] = {}
    pairs = (zip(one["samples"], one["weights"], strict=True) for one in profile["profiles"])
    for stack, weight in itertools.chain.from_iterable(pairs):
        of = totals.setdefault(names[stack[-2]] if len(stack) > 1 else "?", {})
        cause = names[stack[-1]].strip("()")
        of[cause] = of.get(cause, 0) + weight
    return totals


def test_profile(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    _, result = run_with(Instruments(profile=path), cores=2)
    profile = json.loads(path.read_text())
    plain = Machine(soc.load("siracusa"))
    plain.load_elf(assemble(PROGRAM, 2))
    assert plain.run().cores == result.cores
    for core, one in zip(result.cores, profile["profiles"], strict=True):
        assert one["endValue"] == sum(one["weights"]) == core["cycles"]
        causes: dict[str, int] = {}
        for stack, weight in zip(one["samples"], one["weights"], strict=True):
            name = profile["shared"]["frames"][stack[-1]]["name"]
            causes[name] = causes.get(name, 0) + weight
        assert causes.get("(issue)", 0) == core["instructions"]
        assert causes.get("(instruction cache)", 0) == core["icache"]
        assert causes.get("(event wait)", 0) == core["event_load"] + core["asleep"]
    of = function_cycles(profile)
    # Two calls on two cores of 3 instructions, one of them a division by 100: 25 leading zeros and 3 cycles.
    assert of["leaf"]["issue"] == 2 * 2 * 3 and of["leaf"]["multiply and divide"] == 2 * 2 * 27
    assert of["tail"]["external access"] == 2 * 14
    frames = [frame["name"] for frame in profile["shared"]["frames"]]
    stacks = {tuple(frames[number] for number in stack[:-1]) for stack in profile["profiles"][0]["samples"]}
    assert any(stack[-5:] == ("outer", *("recursive",) * 4) for stack in stacks)
    assert any(stack[-2:] == ("main", "tail") for stack in stacks), stacks


def test_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "p.elf"
    program.write_bytes(assemble(PROGRAM))
    assert tvmc(["sim", str(program), "--log-calls"]) == 0
    lines = [line for line in capfd.readouterr().err.splitlines() if " core 0 " in line]
    moves = [" ".join(line.split()[3:]) for line in lines]
    start = moves.index("-> main")
    calls = ["-> outer", "-> leaf", "<- leaf", *["-> recursive"] * 4, *["<- recursive"] * 4]
    assert moves[start + 1 : start + 16] == [*calls, "<- outer", "-> tail", "<- tail", "-> leaf"]
    cycles = [int(line.split()[0]) for line in lines]
    assert cycles == sorted(cycles)
    depths = {line.split()[-1]: line.index("->") for line in lines if "->" in line}
    assert depths["outer"] == depths["main"] + 2 and depths["recursive"] == depths["outer"] + 8
