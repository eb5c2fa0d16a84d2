"""Tests that need PyTorch carry its mark: by it `scripts/test --torch` finds them, and CI."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent


def _needs_torch(tree: ast.Module) -> bool:
    """Whether the module is skipped as a whole where PyTorch is missing."""
    calls = [s.value for s in tree.body if isinstance(s, ast.Assign | ast.Expr) and isinstance(s.value, ast.Call)]
    return any(ast.unparse(c.func) == "pytest.importorskip" and ast.unparse(c.args[0]) == "'torch'" for c in calls)


NEED_TORCH = [p for p in sorted(TESTS.rglob("test_*.py")) if _needs_torch(ast.parse(p.read_text("utf-8")))]


def test_there_are_some() -> None:
    assert len(NEED_TORCH) >= 5


@pytest.mark.parametrize("path", NEED_TORCH, ids=lambda p: p.stem)
def test_modules_that_need_torch_are_marked(path: Path) -> None:
    marks = [
        ast.unparse(s.value)
        for s in ast.parse(path.read_text("utf-8")).body
        if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "pytestmark"
    ]
    assert marks and "pytest.mark.torch" in marks[0]
