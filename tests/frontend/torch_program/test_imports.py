"""PyTorch is imported where a model of it is at hand, inside functions, and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path

LIBRARIES = {"torch", "torchao", "onnxscript"}
PACKAGES = ("tvm_pulp", "uma_backends", "schedules")
# Parts that are about programs of PyTorch.
ALLOWED = ("tvm_pulp/frontend/torch_program/", "tvm_pulp/report/verify/")


def _imports(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Libraries, and whether they are imported inside a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0], inside
        else:
            yield from _imports(node, inside or isinstance(node, ast.FunctionDef))


def test_the_core_does_not_import_pytorch(repository: Path) -> None:
    found = [
        (path.relative_to(repository).as_posix(), inside)
        for package in PACKAGES
        for path in sorted((repository / package).rglob("*.py"))
        for name, inside in _imports(ast.parse(path.read_text("utf-8")))
        if name in LIBRARIES
    ]
    assert found and all(inside and path.startswith(ALLOWED) for path, inside in found), found
