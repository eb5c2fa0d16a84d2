"""Small files that stand for a lot: refused before memory is taken, with the limit and the way to raise it."""

import bz2
import gzip
import json
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import tvmc
from tvm_pulp import dse, limits
from tvm_pulp.codegen import mlf
from tvm_pulp.errors import UserError
from tvm_pulp.limits import LIMITS, VARIABLE
from tvm_pulp.option_values import read_arrays
from tvm_pulp.report.html import compare_page
from tvm_pulp.sim.iss.elf import read_elf

_MIB = 1 << 20


def _refused(read: Callable[[], Any], name: str, most_bytes: int = 64 * _MIB) -> None:
    """Raises a user error that names a limit, and takes little memory for it; no name: any user error."""
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=rf"{VARIABLE}={name}=" if name else None):
            read()
        assert tracemalloc.get_traced_memory()[1] < most_bytes
    finally:
        tracemalloc.stop()


def _elf(segments: int, strings: bytes = b"", symbols: int = 0, step: int = 1) -> bytes:
    """An executable of segments that all hold the same bytes, and symbols whose names share their ends."""
    body, programs = bytes(4096), 52 + 32 * segments
    names = programs + len(body)
    table = names + len(strings)
    head = struct.pack("<HHIIIII6H", 2, 243, 1, 0, 52, table + 16 * symbols, 0, 52, 32, segments, 40, 3, 0)
    parts = [b"\x7fELF\x01\x01\x01".ljust(16, b"\0"), head]
    parts += [struct.pack("<8I", 1, programs, 0, 0, len(body), len(body), 7, 4)] * segments
    parts += [body, strings, *(struct.pack("<IIIBBH", 1 + step * i, i, 0, 2, 0, 1) for i in range(symbols)), bytes(40)]
    parts.append(struct.pack("<10I", 0, 3, 0, 0, names, len(strings), 0, 0, 1, 0))
    return b"".join([*parts, struct.pack("<10I", 0, 2, 0, 0, table, 16 * symbols, 1, 0, 4, 16)])


def test_segments_and_symbols_that_overlap() -> None:
    assert len(read_elf(_elf(2, b"\0name\0", 2)).symbols) == 2
    _refused(lambda: read_elf(_elf(60_000)), "")
    _refused(lambda: read_elf(_elf(1, b"\0" + b"a" * _MIB + b"\0", 30_000)), "")
    _refused(lambda: read_elf(_elf(1, b"\0" + b"a" * _MIB, 30_000)), "")
    _refused(lambda: read_elf(_elf(1, b"\0" + (b"a" * 60_000 + b"\0"), 30_000)), "elf_name_bytes", 128 * _MIB)


def test_limits_are_asked_for_once_and_not_for_every_symbol(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of runs load programs of thousands of symbols."""
    asked: list[str] = []
    stated = limits.stated_limits
    monkeypatch.setattr(limits, "stated_limits", lambda: asked.append("") or stated())
    assert read_elf(_elf(2, b"\0name\0", 1000))
    assert 0 < len(asked) < 10


def test_limits_of_executables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "elf_segments=1, elf_symbols=3")
    assert read_elf(_elf(1, b"\0name\0", 3))
    _refused(lambda: read_elf(_elf(2)), "elf_segments")
    _refused(lambda: read_elf(_elf(1, b"\0name\0", 4)), "elf_symbols")
    monkeypatch.setenv(VARIABLE, "elf_bytes=1k")
    (tmp_path / "elf").write_bytes(_elf(1))
    _refused(lambda: read_elf(tmp_path / "elf"), "elf_bytes")


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


@pytest.mark.parametrize("packer", PACKERS)
def test_packed_archives(packer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"net.tar.{packer}"
    mlf.write(path, {"metadata.json": b"{}", "zeros": bytes(_MIB)})
    path.write_bytes(PACKERS[packer](path.read_bytes()))
    assert len(mlf.read(path)["zeros"]) == _MIB
    monkeypatch.setenv(VARIABLE, "unpacked_bytes=100k")
    _refused(lambda: mlf.read(path), "expansion")
    monkeypatch.setenv(VARIABLE, "archive_bytes=100k")
    _refused(lambda: mlf.read(path), "archive_bytes")
    path.write_bytes(path.read_bytes()[:-20])
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(UserError, match="not a readable archive"):
        mlf.read(path)


def test_an_archive_of_zeros_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "unpacked_bytes=4m")
    for packer in PACKERS.values():
        # Several streams one after the other are one file.
        (tmp_path / "net.tar").write_bytes(packer(bytes(9 * _MIB)) + packer(bytes(9 * _MIB)))
        _refused(lambda: mlf.read(tmp_path / "net.tar"), "expansion", 24 * _MIB)


def test_archives_of_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlf.write(tmp_path / "net.tar", {"metadata.json": b"{}", **{f"f{i}": b"" for i in range(9)}})
    monkeypatch.setenv(VARIABLE, "archive_files=9")
    _refused(lambda: mlf.read(tmp_path / "net.tar"), "archive_files")


def _npz(path: Path, header: bytes, size: int) -> Path:
    """An array of zeros as its header states it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("x.npy", "w") as to:
        to.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for _ in range(size // _MIB):
            to.write(bytes(_MIB))
        to.write(bytes(size % _MIB))
    return path


def _header(shape: str, dtype: str = "'|u1'") -> bytes:
    return f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"


def test_arrays_that_unpack_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _npz(tmp_path / "a.npz", _header(f"({260 * _MIB},)"), 260 * _MIB)
    assert path.stat().st_size < 2 * _MIB
    _refused(lambda: read_arrays(str(path), "-i"), "expansion", 8 * _MIB)
    monkeypatch.setenv(VARIABLE, "array_bytes=100m")
    _refused(lambda: read_arrays(str(path), "-i"), "array_bytes", 8 * _MIB)
    monkeypatch.setenv(VARIABLE, "arrays=2")
    np.savez(tmp_path / "b.npz", **{f"x{i}": np.zeros(1) for i in range(3)})
    _refused(lambda: read_arrays(str(tmp_path / "b.npz"), "-i"), "arrays", 8 * _MIB)


@pytest.mark.parametrize(
    "header",
    [
        _header("(1000000000000,)"),
        _header("(4611686018427387904,)", "'|V0'"),
        _header("(-1,)"),
        _header("(7,)"),
        _header("(16,)", "'|O'"),
        b"\xff" * 100,
    ],
    ids=["terabyte", "no bytes", "negative", "too few", "objects", "no text"],
)
def test_arrays_whose_headers_are_wrong(header: bytes, tmp_path: Path) -> None:
    _refused(lambda: read_arrays(str(_npz(tmp_path / "a.npz", header, 16)), "-i"), "", 8 * _MIB)


def test_arrays_are_those_of_numpy(tmp_path: Path) -> None:
    kept = {
        "a": np.arange(24).reshape(2, 3, 4),
        "f": np.asfortranarray(np.eye(3)[:, :2]),
        "e": np.zeros((0, 3)),
        "s": np.array(3),
    }
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **kept)  # type: ignore[operator]
        read = dict(read_arrays(str(tmp_path / "a.npz"), "-i"))
        assert list(read) == list(kept)
        for name, array in kept.items():
            np.testing.assert_array_equal(read[name], array)
            assert read[name].dtype == array.dtype and read[name].flags.writeable


def test_studies_of_millions() -> None:
    values = [f"{i}k" for i in range(64, 464)]
    grid = dse.grid(l1=values, l2=values, cores=list(range(1, 9)))
    _refused(lambda: dse.Study(["zoo:dscnn"], grid), "study_rows")
    _refused(lambda: dse.grid(l1=range(1 << 40)), "study_rows")
    options = {name: list(range(100)) for name in ("l1", "l2", "cores", "capacity")}
    _refused(lambda: dse.Study(["zoo:dscnn"], "siracusa", compile_options=options), "study_rows")


def test_reports_of_many_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tvm_pulp.compile("zoo:autoencoder").run().report
    layer = report["layers"][0]
    many = {**report, "layers": [{**layer, "name": f"layer_{i}"} for i in range(6_000)]}
    _refused(lambda: compare_page({"a": many, "b": many}), "report_layers")
    (tmp_path / "many.json").write_text(json.dumps({**report, "layers": many["layers"][:60]}))
    monkeypatch.setenv(VARIABLE, "report_layers=50")
    path = tmp_path / "many.json"
    assert "and 10 rows more" in tvmc(capsys, "compare", path, path).out
    finished = tvmc(capsys, "compare", path, path, "--html", tmp_path / "page.html")
    assert finished.status == 2 and "report_layers=60" in finished.err and not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("text", ["arrays", "nothing=3", "arrays=-1", "arrays=1e9", "=", "arrays=3t"])
def test_limits_that_cannot_be_meant(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(UserError, match=VARIABLE):
        LIMITS["arrays"].check(1, "it has")


def test_sparse_members(tmp_path: Path) -> None:
    """A sparse member of 512 bytes that would be a terabyte, in the form of GNU tar."""
    header = bytearray(tarfile.TarInfo("metadata.json").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = b"S"
    header[124:136] = b"%011o\0" % 512
    header[386:398], header[398:410] = b"%011o\0" % 0, b"%011o\0" % 512
    header[483:495] = b"%011o\0" % (1 << 32)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    (tmp_path / "net.tar").write_bytes(bytes(header) + bytes(512) + bytes(1024))
    with tarfile.open(tmp_path / "net.tar") as archive:
        assert archive.getmembers()[0].size == 1 << 32
    _refused(lambda: mlf.read(tmp_path / "net.tar"), "", 8 * _MIB)
