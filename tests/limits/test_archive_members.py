"""Tar files whose members are not what an archive holds: one sentence, and nothing is made of them."""

import io
import tarfile
from pathlib import Path

import pytest

from tvm_pulp.codegen import mlf
from tvm_pulp.errors import UserError

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


def _entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mtime: float = 0) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mtime = kind, link, mtime
    return entry


def _write(path: Path, entries: list[tarfile.TarInfo], form: int = tarfile.GNU_FORMAT) -> Path:
    with tarfile.open(path, "w", format=form) as archive:
        for entry in [_entry("./metadata.json"), *entries]:
            entry.size = 2 if entry.type == tarfile.REGTYPE else 0
            archive.addfile(entry, io.BytesIO(b"{}"))
    return path


WRONG = {
    "empty": [_entry("")],
    "dot": [_entry(".")],
    "inner dot": [_entry("a/./b")],
    "above": [_entry("../a")],
    "above inside": [_entry("a/../../b")],
    "absolute": [_entry("/etc/passwd")],
    "two slashes": [_entry("a//b")],
    "300 characters": [_entry("x" * 300)],
    "300 characters in folders": [_entry("abc/" * 75 + "x")],
    "control characters": [_entry("a\nb")],
    "backslash": [_entry("a\\b")],
    "a file below a file": [_entry("a"), _entry("a/b")],
    "a file above a file": [_entry("a/b"), _entry("a")],
    "twice": [_entry("a"), _entry("./a")],
    "symbolic link": [_entry("a", tarfile.SYMTYPE, "/etc/passwd")],
    "hard link": [_entry("a", tarfile.LNKTYPE, "metadata.json")],
    "device": [_entry("a", tarfile.CHRTYPE)],
    "block device": [_entry("a", tarfile.BLKTYPE)],
    "pipe": [_entry("a", tarfile.FIFOTYPE)],
    "unknown kind": [_entry("a", b"Z")],
    "no text": [_entry("a\udcff")],
}


@pytest.mark.parametrize("what", WRONG)
def test_members_that_no_archive_has(what: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^'.*net\.tar' is not a readable archive \(.*\): compile the model") as caught:
        mlf.read(_write(tmp_path / "net.tar", WRONG[what]))
    assert len(str(caught.value)) < 300 + len(str(tmp_path)) and str(caught.value).isprintable()
    assert [path.name for path in tmp_path.iterdir()] == ["net.tar"]


@pytest.mark.parametrize("form", FORMATS)
def test_archives_that_others_have_packed_again(form: int, tmp_path: Path) -> None:
    name = "folder/" * 20 + "file"
    folder, late = _entry("folder", tarfile.DIRTYPE), _entry("late", mtime=1.5)
    files = mlf.read(_write(tmp_path / "net.tar", [folder, _entry(name), late], form))
    assert files == dict.fromkeys(("metadata.json", name, "late"), b"{}")


def test_every_wrong_byte_of_a_header(tmp_path: Path) -> None:
    """Whatever a header says, the file is read, or refused in one sentence."""
    path = tmp_path / "net.tar"
    content = bytearray(_write(path, [_entry("a")], tarfile.USTAR_FORMAT).read_bytes())
    outcomes = set()
    for place in range(0, 512, 3):
        for value in (0, 0x35, 0xFF):
            changed = bytearray(content)
            changed[place] = value
            # With a sum that fits, so that the fields themselves are looked at.
            changed[148:156] = b" " * 8
            changed[148:156] = b"%06o\0 " % sum(changed[:512])
            path.write_bytes(changed)
            try:
                outcomes.add(len(mlf.read(path)))
            except UserError as error:
                outcomes.add(str(error)[-30:])
    assert 2 in outcomes and len(outcomes) > 2


def test_headers_of_headers(tmp_path: Path) -> None:
    """Thousands of headers that each tell of the next one: Python's own reader calls itself for each."""
    path = tmp_path / "net.tar"
    chained = [_entry("long", tarfile.GNUTYPE_LONGNAME).tobuf(tarfile.GNU_FORMAT) for _ in range(5000)]
    path.write_bytes(b"".join(chained) + bytes(1024))
    with pytest.raises(UserError, match=r"no metadata\.json"):
        mlf.read(path)


@pytest.mark.parametrize("kept", [0, 100, 512, 700, 1100])
def test_truncated_archives(kept: int, tmp_path: Path) -> None:
    path = _write(tmp_path / "net.tar", [_entry("a")])
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UserError, match="archive"):
        mlf.read(path)
