"""Processes that are killed at random moments: the next one gives the right result, and `doctor --clean` clears up."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import onnx
import pytest

from tests.codegen import small_networks
from tvm_pulp.toolchain.cache import cache_directory
from tvm_pulp.tvmc.main import main

TVMC = [sys.executable, "-m", "tvm_pulp.tvmc.main"]


class Place:
    """Folders of one test: its own cache, temporary files and results."""

    def __init__(self, root: Path, with_zig: bool = False) -> None:
        self.temporary, self.results, self.cache = (root / name for name in ("tmp", "results", "cache"))
        for folder in (self.temporary, self.results, self.cache):
            folder.mkdir()
        self._environment = {**os.environ, "TMPDIR": str(self.temporary), "TVM_PULP_CACHE": str(self.cache)}
        # Libraries of zig take a minute to make.
        known = cache_directory() / "zig"
        if with_zig and known.is_dir():
            shutil.copytree(known, self.cache / "zig", ignore=shutil.ignore_patterns("tmp", "z", "b"))

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*TVMC, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.results,
            env=self._environment,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> str:
        """Run to the end, which must be a good one."""
        with self.start(*arguments) as process:
            assert process.stdout is not None
            text = process.stdout.read()
        assert process.returncode == 0, text
        return text

    def kill(self, seconds: float, *arguments: str) -> None:
        """Kill it and its children after so long."""
        with self.start(*arguments) as process:
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGKILL)

    def results_by_name(self) -> dict[str, bytes]:
        """Results, without temporary files beside them."""
        return {path.name: path.read_bytes() for path in self.results.iterdir() if path.name[0] != "."}


def outputs(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("output ")]


def check_kills(place: Place, kills: int, seed: int, verbs: Sequence[str], *target: str) -> None:
    """Kill those verbs, and let each come to its end afterwards."""
    model, chance = place.results / "net.onnx", random.Random(seed)
    onnx.save(small_networks.classifier(), str(model))
    steps = [["compile", "-q", "net.onnx", *target, "-o", "net.tar"]]
    if "compile" not in verbs:
        assert main([*steps[0][:2], str(model), *target, "-o", str(place.results / "net.tar")]) == 0
        steps = []
    steps += [["build", "net.tar", "-o", "net.elf"]] if "build" in verbs else []
    steps += [["run", "net.tar", "-o", "outputs.npz"]]
    wanted, seconds, shown = {}, [], []
    for step in steps:
        started = time.monotonic()
        shown = outputs(place.run(*step))
        seconds.append(time.monotonic() - started)
        wanted = place.results_by_name()
    assert shown
    for path in place.cache.iterdir():
        if path.name != "zig":
            shutil.rmtree(path)
    for name in wanted.keys() & {step[-1] for step in steps}:
        (place.results / name).unlink()
    for step, expected in zip(steps, seconds, strict=True):
        for _ in range(kills):
            # The start of Python is the same for all.
            place.kill(expected * chance.uniform(0.3, 1.0), *step)
            found = place.results_by_name()
            assert found.items() <= wanted.items(), "a file is whole or absent"
        text = place.run(*step)
    assert outputs(text) == shown and place.results_by_name() == wanted
    place.run("doctor", "--clean")
    assert list(place.temporary.iterdir()) == []
    assert sorted(path.name for path in place.results.iterdir()) == sorted(wanted)
    assert {path.name for path in place.cache.rglob("*") if "zig" not in path.parts} <= {"zig"}


def test_on_this_machine(tmp_path: Path) -> None:
    check_kills(Place(tmp_path), 1, 1, ["run"], "--soc=host")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_on_this_machine_often(tmp_path: Path, seed: int) -> None:
    check_kills(Place(tmp_path), 4, seed, ["compile", "run"], "--soc=host")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_on_a_simulated_machine(tmp_path: Path, seed: int) -> None:
    place, target = Place(tmp_path, with_zig=True), ("--target=uma-neureka", "--planner=greedy")
    check_kills(place, 2, seed, ["compile", "build", "run"], *target)
