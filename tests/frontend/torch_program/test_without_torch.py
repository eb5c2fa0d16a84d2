"""PyTorch is optional: nothing imports it before a model asks for it, and then its absence is one sentence."""

import ast
import sys
from pathlib import Path

import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.main import main


def test_only_translation_and_comparison_import_torch_and_only_when_asked(repository: Path) -> None:
    for path in sorted((repository / "tvm_pulp").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        outside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
        for node in (n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            if any(name.split(".")[0] in ("torch", "torchao") for name in names):
                assert "torch_program" in path.parts or path.parts[-2:] == ("verify", "reference.py"), path
                assert id(node) in outside, f"{path}:{node.lineno} imports it at once"


def test_a_program_without_pytorch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "model.pt2").write_bytes(b"PK")
    assert main(["compile", str(tmp_path / "model.pt2"), "-o", str(tmp_path / "m.tar")]) == 2
    told = capsys.readouterr().err
    assert "needs PyTorch, which is not installed: pip install 'tvm_pulp[torch]'" in told
    with pytest.raises(UserError, match="needs PyTorch"):
        tvm_pulp.compile(object())


def test_example_inputs_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="example_inputs has no effect on 'model'"):
        tvm_pulp.compile("model", example_inputs=())
