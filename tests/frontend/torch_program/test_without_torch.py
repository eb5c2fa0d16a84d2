"""PyTorch is optional: nothing imports it before a model asks for it, and then its absence is one sentence."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.main import main

OWNERS = {
    **dict.fromkeys(("torch", "torchao"), ("torch_program", "reference.py")),
    **dict.fromkeys(("jax", "jaxlib", "flax", "equinox"), ("stablehlo_program",)),
    **dict.fromkeys(("keras", "tensorflow"), ("keras_models.py", "tensorflow_models.py")),
}


def _imports(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, int, bool]]:
    """Names of imported modules, where, and whether in a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from ((name.split(".")[0], node.lineno, inside) for name in names)
        yield from _imports(node, inside or isinstance(node, ast.FunctionDef))


def test_frameworks_are_imported_where_they_belong_and_only_when_asked(repository: Path) -> None:
    for path in sorted((repository / "tvm_pulp").rglob("*.py")):
        for name, line, inside in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            if name in OWNERS:
                assert set(OWNERS[name]) & set(path.parts), f"{path}:{line} imports {name}"
                assert inside, f"{path}:{line} imports {name} at once"


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
