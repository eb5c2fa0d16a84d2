"""`tvmc doctor` says what is there, what is missing and how to get it; `--clean` removes files of the cache only."""

from pathlib import Path

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.toolchain import riscv_compilers
from tvm_pulp.toolchain.cache import cached_file, digest_of
from tvm_pulp.tvmc import doctor
from tvm_pulp.tvmc.main import main


def test_all_parts_are_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GVSOC_HOME", raising=False)
    monkeypatch.setenv("ETISS_HOME", "/nowhere")
    monkeypatch.setenv("PATH", "")
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert {"compilers", "simulators", "extras", "build cache"} <= set(text.splitlines())
    assert "zig " in text and "set GVSOC_HOME where it is installed" in text
    assert set(doctor.extras()) >= {"dse", "torch", "verify", "mlonmcu"} and "dev" not in doctor.extras()


def test_a_missing_compiler_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_isa: object) -> None:
        raise UserError("there is no zig")

    monkeypatch.setattr(riscv_compilers, "zig_riscv_compiler", nowhere)
    assert main(["doctor"]) == 1
    assert "pip install ziglang" in capsys.readouterr().err


def test_a_missing_extra_is_named_with_its_packages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "extras", lambda: {"some": ["pytest", "a-package-that-nobody-wrote"]})
    assert main(["doctor"]) == 0
    assert "without a-package-that-nobody-wrote: pip install 'tvm_pulp[some]'" in capsys.readouterr().out


def test_only_files_of_the_cache_are_removed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TVM_PULP_CACHE", str(tmp_path))
    made = cached_file(digest_of(["text"]), ".o", lambda path: path.write_bytes(b"12345") and None)
    mine = made.parent / "notes.txt"
    mine.write_text("of the user")
    assert main(["doctor", "--clean"]) == 0
    assert capsys.readouterr().out == f"5 bytes removed from {tmp_path}\n"
    assert not made.exists() and mine.read_text() == "of the user"
    assert main(["doctor", "--clean"]) == 0 and "0 bytes" in capsys.readouterr().out
    assert sorted(path.name for path in made.parent.iterdir()) == ["notes.txt"]
