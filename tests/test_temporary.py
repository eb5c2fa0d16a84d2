"""Temporary folders: removed with their object, and by others when their process was killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tvm_pulp.output_files import OutputFile
from tvm_pulp.temporary import TemporaryFolder, is_abandoned, remove_abandoned

_HOLDER = """
import sys, time
from pathlib import Path
from tvm_pulp.output_files import OutputFile
from tvm_pulp.temporary import TemporaryFolder
folder = TemporaryFolder()
(folder.path / "file").write_text("text")
output = OutputFile(Path(sys.argv[1]) / "report")
output.stream.write(b"half")
print("made", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path: Path) -> "subprocess.Popen[str]":
    """A process that holds a folder and an output in folders of their own."""
    for name in ("tmp", "out"):
        (tmp_path / name).mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )
    assert process.stdout is not None and process.stdout.readline() == "made\n"
    return process


def test_a_folder_goes_when_it_is_left(tmp_path: Path) -> None:
    with TemporaryFolder(tmp_path) as folder:
        (folder / "file").write_text("")
        assert list(tmp_path.iterdir()) == [folder] and not is_abandoned(folder)
    assert list(tmp_path.iterdir()) == []
    kept = TemporaryFolder(tmp_path)
    assert kept.path.is_dir()
    del kept
    assert list(tmp_path.iterdir()) == []


def test_what_a_living_process_holds_stays(holder: "subprocess.Popen[str]", tmp_path: Path) -> None:
    with holder:
        try:
            assert remove_abandoned(tmp_path / "tmp") == 0 and remove_abandoned(tmp_path / "out") == 0
            assert len(list((tmp_path / "tmp").iterdir())) == 2, "a folder, and a link to the output"
            assert len(list((tmp_path / "out").iterdir())) == 1
        finally:
            holder.kill()


def test_what_a_killed_process_left_goes(holder: "subprocess.Popen[str]", tmp_path: Path) -> None:
    with holder:
        holder.send_signal(signal.SIGKILL)
    assert remove_abandoned(tmp_path / "tmp") == 2
    assert list((tmp_path / "tmp").iterdir()) == [] and list((tmp_path / "out").iterdir()) == []


def test_the_next_output_in_a_folder_removes_what_a_killed_process_left(
    holder: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    with holder:
        holder.kill()
    output = OutputFile(tmp_path / "out" / "report")
    output.commit()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report"]


def test_files_of_others_stay(tmp_path: Path) -> None:
    mine = tmp_path / "tvm_pulp_mine"
    mine.mkdir()
    old = tmp_path / "tvm_pulp_old"
    old.mkdir()
    os.utime(old, (time.time() - 1e6,) * 2)
    (tmp_path / "notes").write_text("")
    # A link may be anybody's: what it leads to is removed only where its name says that we made it.
    (tmp_path / "tvm_pulp_trap.link").symlink_to(tmp_path / "notes")
    assert remove_abandoned(tmp_path) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "tvm_pulp_mine", "tvm_pulp_trap.link"]
