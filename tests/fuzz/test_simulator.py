"""Hostile guests: no report, no hang, no growth; always a sentence. The slow set runs them under address and
undefined-behaviour checks, whose build takes longest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.conftest import MODELS, OPTIONS, REPOSITORY, environment_for
from tests.sim.guest import assemble

# Executables of the default run; guests that the driver makes and executables of the slow set.
FEW, GUESTS, EXECUTABLES = 100, 15000, 5000
PROGRAM = ".text\nmain:\n  li t0, 0x1a10f000\n  li t1, 'x'\n  sw t1, 0(t0)\n  ret\n.data\n.space 64\n.bss\n.space 256\n"


def _drive(built: dict[str, Path], first: int, count: int) -> dict[str, int]:
    command = [str(built["driver"]), str(first), str(count), *(str(built[name]) for name in MODELS)]
    environment = os.environ | {"ASAN_OPTIONS": OPTIONS}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300 + count // 2, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    numbers = [part.split() for part in done.stdout.strip().split(", ")]
    return {kind: int(number) for number, kind in numbers}


def _mutate(environment: dict[str, str], folder: Path, first: int, count: int) -> None:
    seed = folder / "seed.elf"
    seed.write_bytes(assemble(PROGRAM))
    command = [sys.executable, "-m", "tests.fuzz.sim_worker", str(seed), str(first), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300 + count, cwd=REPOSITORY, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert not answer["complaints"] and answer["grown_mib"] < 64, answer
    assert {"0", "126", "127"} <= set(answer["statuses"]), answer


def test_executables(tmp_path: Path) -> None:
    _mutate(dict(os.environ), tmp_path, 0, FEW)


@pytest.mark.slow
def test_many_guests(sanitized: dict[str, Path]) -> None:
    outcomes = _drive(sanitized, 0, GUESTS)
    assert all(outcomes[kind] > 0 for kind in ("ended", "faulted", "refused")), outcomes


@pytest.mark.slow
def test_many_executables(sanitized: dict[str, Path], tmp_path: Path) -> None:
    _mutate(environment_for(sanitized["library"]), tmp_path, 0, EXECUTABLES)
