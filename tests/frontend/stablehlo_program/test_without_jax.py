"""JAX is optional: its absence is one sentence."""

import sys
from pathlib import Path

import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.main import main


def test_a_model_without_jax(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    (tmp_path / "net.mlir").write_text("module {}")
    assert main(["compile", str(tmp_path / "net.mlir"), "-o", str(tmp_path / "m.tar")]) == 2
    assert "needs JAX, which is not installed: pip install 'tvm_pulp[jax]'" in capsys.readouterr().err
    with pytest.raises(UserError, match="<lambda> needs JAX"):
        tvm_pulp.compile(lambda x: x, example_inputs=(1,))
