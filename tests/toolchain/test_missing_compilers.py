"""A missing compiler is a user error that says what to do."""

import re
from pathlib import Path

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.toolchain import host_cc, riscv_compilers, zig


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program on PATH and no variable that names one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("TVM_PULP_RISCV_GCC", raising=False)


def test_no_riscv_gcc(empty_path: None) -> None:
    expected = (
        "riscv64-unknown-elf-gcc is not on PATH: install it (Debian: gcc-riscv64-unknown-elf), "
        "set TVM_PULP_RISCV_GCC to its path, or use the toolchain 'zig'"
    )
    with pytest.raises(UserError, match=f"^{re.escape(expected)}$"):
        riscv_compilers.find_riscv_gcc()


def test_wrong_riscv_gcc_variable(empty_path: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TVM_PULP_RISCV_GCC", "/nowhere/gcc")
    expected = "TVM_PULP_RISCV_GCC names '/nowhere/gcc', which is not an executable: correct it or unset it"
    with pytest.raises(UserError, match=f"^{re.escape(expected)}$"):
        riscv_compilers.find_riscv_gcc()


def test_wrong_cc_variable(empty_path: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m32")
    expected = "CC names 'no-such-compiler', which is not an executable: correct it or unset it"
    with pytest.raises(UserError, match=f"^{re.escape(expected)}$"):
        host_cc.host_compiler()


def test_neither_host_compiler_nor_ziglang(empty_path: None, monkeypatch: pytest.MonkeyPatch) -> None:
    zig.find_zig.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^no C compiler found: install gcc or clang, set CC .* `pip install ziglang`"):
        host_cc.host_compiler()
