"""Verbs on a disk without room: one sentence that says so, exit status 2, and nothing of theirs on it."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.codegen import small_networks
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.tvmc.main import main

_BYTES = 1 << 20


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network for this machine, its program in the cache, and two reports."""
    folder = tmp_path_factory.mktemp("archives")
    onnx.save(small_networks.classifier(), str(folder / "net.onnx"))
    make(folder, "host", "--soc=host")
    (folder / "copy.json").write_bytes((folder / "host.json").read_bytes())
    (folder / "study.yaml").write_text("models: [zoo:dscnn]\nsocs: [siracusa]\ntargets: [nothing]\n")
    return folder


@pytest.fixture(scope="module")
def simulated(archives: Path) -> None:
    """The same for a simulated machine."""
    make(archives, "soc", "--target=uma-neureka", "--planner=greedy")
    assert main(["build", str(archives / "soc.tar"), "-o", str(archives / "soc.elf")]) == 0


def make(folder: Path, name: str, *target: str) -> None:
    archive = str(folder / f"{name}.tar")
    assert main(["compile", "-q", str(folder / "net.onnx"), *target, "-o", archive]) == 0
    assert main(["run", archive, "--report", str(folder / f"{name}.json")]) == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte of which a page is left."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_BYTES},mode=700", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    ) if os.geteuid() == 0 else None  # fmt: skip
    if mounted is None or mounted.returncode:
        pytest.skip(f"a disk cannot be mounted here: {'only root may' if mounted is None else mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def fill(disk: Path, left: int = 0) -> None:
    with pytest.raises(OSError, match="No space"), (disk / "filler").open("wb", buffering=0) as stream:
        while True:
            stream.write(bytes(4096))
    with (disk / "filler").open("r+b") as stream:
        stream.truncate((disk / "filler").stat().st_size - left)


Arguments = Callable[[Path, Path], list[object]]
# Outputs on the full disk: arguments by archives and disk.
OUTPUTS: dict[str, Arguments] = {
    "compile": lambda a, d: ["compile", "-q", a / "net.onnx", "--soc=host", "-o", d / "net.tar"],
    "dumps": lambda a, d: [
        "compile", "-q", a / "net.onnx", "--soc=host", "-o", a / "x.tar", "--dump-code=c", "--dump-dir", d / "new",
    ],
    "build": lambda a, d: ["build", a / "soc.tar", "-o", d / "net.elf"],
    "run, outputs": lambda a, d: ["run", a / "host.tar", "-o", d / "out.npz"],
    "run, report": lambda a, d: ["run", a / "host.tar", "--report", d / "out.json"],
    "run, page": lambda a, d: ["run", a / "host.tar", "--html", d / "out.html"],
    "run, trace": lambda a, d: ["run", a / "soc.tar", "--trace", d / "out.json"],
    "run, other trace": lambda a, d: ["run", a / "soc.tar", "--trace", d / "out.trace"],
    "run, profile": lambda a, d: ["run", a / "soc.tar", "--profile", d / "out.json"],
    "compare": lambda a, d: ["compare", a / "host.json", a / "copy.json", "--html", d / "out.html"],
    "sim, report": lambda a, d: ["sim", a / "soc.elf", "--report", d / "out.json"],
    "plan": lambda a, d: ["plan", a / "net.onnx", "--soc=siracusa", "--planner=greedy", "-o", d / "new"],
    "explain": lambda a, d: ["explain", a / "net.onnx", "--soc=host", "--onnx", d / "out.onnx"],
    "uma": lambda a, d: ["uma", "create", "new_engine", "-o", d / "new"],
    "plugin": lambda a, d: ["plugin", "gvsoc", "-o", d / "new"],
    "sweep": lambda a, d: ["sweep", a / "study.yaml", "--no-simulate", "-o", d / "out.csv"],
}  # fmt: skip


# Those that take an archive for a simulated machine, or seconds.
LONG = ("build", "run, trace", "run, other trace", "run, profile", "sim, report", "sweep")
CASES = [pytest.param(case, marks=pytest.mark.slow) if case in LONG else case for case in OUTPUTS]


@pytest.mark.parametrize("left", [0, pytest.param(4096, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES)
def test_outputs(
    case: str, left: int, archives: Path, disk: Path, capsys: pytest.CaptureFixture[str], request: Any
) -> None:
    if case in LONG:
        request.getfixturevalue("simulated")
    fill(disk, left)
    arguments = [str(part) for part in OUTPUTS[case](archives, disk)]
    finished = tvmc(capsys, *arguments)
    if finished.status == 0 and left:
        return  # it is smaller than a page
    assert finished.status == (126 if arguments[0] == "sim" else 2), finished
    sentence = finished.err.splitlines()[-1]
    assert "No space left on device; free some space" in sentence and "Traceback" not in finished.err, finished.err
    assert [path.name for path in disk.iterdir()] == ["filler"]


def test_an_output_that_is_there_stays(archives: Path, disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (disk / "out.json").write_text("old")
    fill(disk)
    assert tvmc(capsys, "run", archives / "host.tar", "--report", disk / "out.json").status == 2
    assert (disk / "out.json").read_text() == "old"
    assert sorted(path.name for path in disk.iterdir()) == ["filler", "out.json"]


@pytest.mark.parametrize("left", [0, *(pytest.param(n << 12, marks=pytest.mark.slow) for n in (8, 24, 64, 128))])
@pytest.mark.parametrize("archive", ["host", pytest.param("soc", marks=pytest.mark.slow)])
def test_the_cache(
    archive: str,
    request: Any,
    left: int,
    archives: Path,
    disk: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if archive == "soc":
        request.getfixturevalue("simulated")
    fill(disk, left)
    monkeypatch.setenv("TVM_PULP_CACHE", str(disk / "cache"))
    finished = tvmc(capsys, "run", archives / f"{archive}.tar")
    if left and finished.status == 0:
        return  # it needs no more
    assert finished.status == 2, finished
    sentence = finished.err.splitlines()[-1]
    assert "No space left" in sentence and "the archive's C" not in sentence, sentence
    # Whole files may stay; nothing is being made.
    assert not list(disk.glob("cache/building/*"))
    (disk / "filler").unlink()
    if archive == "host":
        assert tvmc(capsys, "run", archives / f"{archive}.tar").status == 0


@pytest.mark.parametrize("left", [0, *(pytest.param(n << 12, marks=pytest.mark.slow) for n in (8, 24, 64))])
def test_temporary_files(
    left: int, archives: Path, disk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(disk, left)
    monkeypatch.setattr("tempfile.tempdir", str(disk))
    monkeypatch.setenv("TMPDIR", str(disk))
    finished = tvmc(capsys, "run", archives / "host.tar")
    if not (left and finished.status == 0):  # it may need no more
        check_refused(finished, ["No space left on device"], "run")
    assert [path.name for path in disk.iterdir()] == ["filler"]


def test_reports_are_as_they_were(archives: Path) -> None:
    """What the tests above read is whole."""
    assert json.loads((archives / "host.json").read_text())["soc"] == "host"
