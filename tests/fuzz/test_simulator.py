"""Hostile guests under address and undefined-behaviour checks: no report, no hang, no growth; always a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.sim.guest import assemble

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SANITIZE = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-strict-aliasing"]
SANITIZE += ["-ffp-contract=off", "-fPIC"]
# Of the default run and of the slow set: guests that the driver makes, executables.
FEW, MANY = (400, 100), (15000, 5000)
# What was freed is kept for a while; a small while, so that growth shows.
OPTIONS = "quarantine_size_mb=8"
PROGRAM = ".text\nmain:\n  li t0, 0x1a10f000\n  li t1, 'x'\n  sw t1, 0(t0)\n  ret\n.data\n.space 64\n.bss\n.space 256\n"


def _compiler() -> str:
    found = shutil.which("gcc") or shutil.which("clang")
    if found is None:
        pytest.skip("neither gcc nor clang is here: nothing can be built with address checks")
    return found


def _build(folder: Path, sources: list[Path], output: str, *flags: str) -> Path:
    compiler, include = _compiler(), [REPOSITORY / "c_runtime/iss", REPOSITORY / "c_runtime/include"]
    common = [compiler, *SANITIZE, *(f"-I{path}" for path in include)]

    def compile_one(source: Path) -> Path:
        made = folder / f"{output}-{source.stem}.o"
        subprocess.run([*common, "-c", str(source), "-o", str(made)], check=True)
        return made

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    target = folder / output
    subprocess.run([*common, *map(str, objects), "-o", str(target), "-lm", "-ldl", *flags], check=True)
    return target


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The driver with the simulator inside, the simulator as a library, the model of an accelerator."""
    folder = tmp_path_factory.mktemp("sanitized")
    simulator = [path for path in sorted((REPOSITORY / "c_runtime/iss").glob("*.c")) if path.name != "module.c"]
    model = sorted((REPOSITORY / "uma_backends/neureka/model").glob("*.c"))
    library = _build(folder, simulator, "iss.so", "-shared")
    objects = [str(path) for path in sorted(folder.glob("iss.so-*.o"))]
    driver = _build(
        folder, [REPOSITORY / "tests/fuzz/simulator_driver.c"], "driver", *objects, "-lm", "-ldl", "-rdynamic"
    )
    return {"driver": driver, "library": library, "model": _build(folder, model, "model.so", "-shared")}


def _drive(built: dict[str, Path], first: int, count: int) -> dict[str, int]:
    command = [str(built["driver"]), str(first), str(count), str(built["model"])]
    environment = os.environ | {"ASAN_OPTIONS": OPTIONS}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 + count // 2, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    numbers = [part.split() for part in done.stdout.strip().split(", ")]
    return {kind: int(number) for number, kind in numbers}


def _mutate(built: dict[str, Path], folder: Path, first: int, count: int) -> None:
    seed = folder / "seed.elf"
    seed.write_bytes(assemble(PROGRAM))
    compiler = _compiler()
    preload = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    if not Path(preload).is_absolute():
        pytest.skip(f"{compiler} has no shared address checker that Python could load")
    environment = os.environ | {"LD_PRELOAD": preload, "ASAN_OPTIONS": f"{OPTIONS}:detect_leaks=0"}
    environment["TVM_PULP_ISS_LIBRARY"] = str(built["library"])
    command = [sys.executable, "-m", "tests.fuzz.sim_worker", str(seed), str(first), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120 + count, cwd=REPOSITORY, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert not answer["complaints"] and answer["grown_mib"] < 64, answer
    assert {"0", "126", "127"} <= set(answer["statuses"]), answer


def test_guests(built: dict[str, Path]) -> None:
    outcomes = _drive(built, 0, FEW[0])
    assert all(outcomes[kind] > 0 for kind in ("ended", "faulted", "refused")), outcomes


def test_executables(built: dict[str, Path], tmp_path: Path) -> None:
    _mutate(built, tmp_path, 0, FEW[1])


@pytest.mark.slow
def test_many_guests(built: dict[str, Path]) -> None:
    _drive(built, FEW[0], MANY[0])


@pytest.mark.slow
def test_many_executables(built: dict[str, Path], tmp_path: Path) -> None:
    _mutate(built, tmp_path, FEW[1], MANY[1])
