"""Files that a user names: whole or not at all, into what the name stands for, with the mode that was there."""

import errno
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.output_files import OutputFile, output_file, write_output, write_outputs


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def mask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_new_file_has_the_mode_that_the_mask_leaves(tmp_path: Path, mask: None) -> None:
    write_output(tmp_path / "report", "text")
    write_output(tmp_path / "program", b"\x7fELF", executable=True)
    assert (mode(tmp_path / "report"), mode(tmp_path / "program")) == (0o640, 0o750)
    assert (tmp_path / "report").read_text() == "text"


@pytest.mark.parametrize("before", [0o600, 0o644, 0o777])
def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path, mask: None, before: int) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    path.chmod(before)
    write_output(path, "new", executable=True)
    assert (path.read_text(), mode(path)) == ("new", before)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_that_is_there_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    os.chown(path, 4321, 1234)
    write_output(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid, path.read_text()) == (4321, 1234, "new")


@pytest.mark.parametrize("there", [True, False])
def test_links_are_followed(tmp_path: Path, there: bool) -> None:
    real, link, second = (tmp_path / name for name in ("real", "link", "second"))
    link.symlink_to("real")
    second.symlink_to(link)
    if there:
        real.write_text("old")
    write_output(second, "new")
    assert link.is_symlink() and second.is_symlink() and real.read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real", "second"]


def test_a_pipe_stays_a_pipe_and_gets_everything(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_output(pipe, b"some" * 100_000)
    reader.join(30)
    assert stat.S_ISFIFO(pipe.lstat().st_mode) and got == [b"some" * 100_000]


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    # A link, so that a mistake costs this machine nothing.
    null = tmp_path / "null"
    null.symlink_to("/dev/null")
    before = null.stat()
    write_output(null, b"nothing")
    assert null.is_symlink() and os.path.samestat(null.stat(), before) and stat.S_ISCHR(before.st_mode)


def test_a_full_device_is_one_sentence() -> None:
    with pytest.raises(UserError, match="cannot write '/dev/full': No space left on device; free some space"):
        write_output("/dev/full", b"text")


def test_standard_output_that_is_a_file_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A file that replaced it would take the name, and what is printed later would be lost."""
    sys.stdout.write("before\n")
    write_output("/dev/stdout", "between\n")
    sys.stdout.write("after\n")
    assert capfd.readouterr().out == "before\nbetween\nafter\n"


def test_a_file_that_only_a_descriptor_leads_to_is_written(tmp_path: Path) -> None:
    with (tmp_path / "gone").open("w+b") as stream:
        (tmp_path / "gone").unlink()
        write_output(f"/proc/self/fd/{stream.fileno()}", b"text")
        assert stream.read() == b"text" and list(tmp_path.iterdir()) == []


WRONG: dict[str, tuple[Callable[[Path], Path], str]] = {
    "absent folder": (lambda d: d / "none" / "x", "folder '.*none' does not exist"),
    "folder": (lambda d: d, "is a folder; name a file"),
    "link into an absent folder": (lambda d: link(d, "none/x"), "folder '.*none' does not exist"),
    "link to a folder": (lambda d: link(d, "."), "is a folder; name a file"),
    "loop": (lambda d: link(d, "link"), "Too many levels of symbolic links; correct the links"),
    "long name": (lambda d: d / ("x" * 300), "File name too long; choose a shorter name"),
    "below a file": (lambda d: below(d), "Not a directory"),
}


def link(folder: Path, target: str) -> Path:
    (folder / "link").symlink_to(target)
    return folder / "link"


def below(folder: Path) -> Path:
    (folder / "file").write_text("")
    return folder / "file" / "x"


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_written_is_one_sentence(tmp_path: Path, case: str) -> None:
    place, sentence = WRONG[case]
    path = place(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UserError, match=sentence):
        write_output(path, "text")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(UserError, match="cannot be written to"):
        write_output(path, "new")
    assert path.read_text() == "old"


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_what_fails_half_way_leaves_what_was_there(tmp_path: Path, error: type[BaseException], there: bool) -> None:
    path = tmp_path / "file"
    if there:
        path.write_text("old")
    with pytest.raises(error), output_file(path) as stream:
        stream.write(b"half")
        raise error
    assert [p.name for p in tmp_path.iterdir()] == (["file"] if there else [])
    assert not there or path.read_text() == "old"


def test_an_output_that_is_forgotten_leaves_nothing(tmp_path: Path) -> None:
    output = OutputFile(tmp_path / "file")
    output.stream.write(b"half")
    del output
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_while_writing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot write .*No space left"), output_file(tmp_path / "file"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_files_of_a_folder_are_all_there_or_none(tmp_path: Path) -> None:
    files = {"a": b"1", "inner/b": b"2", "c" * 300: b"3"}
    with pytest.raises(UserError, match="File name too long"):
        write_outputs(tmp_path / "new", files)
    assert list(tmp_path.iterdir()) == []
    del files["c" * 300]
    assert write_outputs(tmp_path / "new", files) == [tmp_path / "new" / "a", tmp_path / "new" / "inner" / "b"]
    assert [p.read_bytes() for p in (tmp_path / "new" / "a", tmp_path / "new" / "inner" / "b")] == [b"1", b"2"]
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["a", "inner"]


# Modules that write files of ours, which nobody names: in temporary folders and in the build cache.
OWN_FILES = {
    "codegen/mlf.py",
    "dse/model.py",
    "dse/row_store.py",
    "frontend/quantize/onnxruntime_quantizer.py",
    "frontend/tensorflow_models.py",
    "output_files.py",
    "temporary.py",
    "sim/etiss/runner.py",
    "sim/gvsoc/runner.py",
    "sim/host.py",
    "sim/iss/runner.py",
    "sim/printing_runner.py",
    "sim/qemu/machine.py",
    "toolchain/build.py",
    "toolchain/cache.py",
    "toolchain/project/unpack.py",
    "tvmc/mlonmcu/golden.py",
    "tvmc/standard_streams.py",
}
WRITES = re.compile(
    r"""\.write_(?:text|bytes)\(|\bopen\([^)\n]*["'][wax]\+?b?["']|shutil\.copy|onnx\.save\(|mode="[wax]"|\.to_(?:csv|parquet)\((?!stream)"""
)
TEMPORARY = re.compile(r"tempfile\.(?!gettempdir|SpooledTemporaryFile)")


def test_nothing_else_writes_files(repository: Path) -> None:
    folder = repository / "tvm_pulp"
    texts = {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.py"))}
    code = {name: "\n".join(line for line in text.splitlines() if "lambda" not in line) for name, text in texts.items()}
    assert {name for name, text in code.items() if WRITES.search(text)} <= OWN_FILES
    assert {name for name, text in code.items() if TEMPORARY.search(text)} == set()


@pytest.mark.parametrize("line", ['path.write_text("x")', 'path.open("wb")', "open(p, 'w')", "shutil.copyfile(a, b)"])
def test_a_planted_write_is_found(line: str) -> None:
    assert WRITES.search(line) and not WRITES.search('path.open("rb")')
