"""A class name stands for one thing: no two public classes of the product share one."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tvm_pulp.grouped import grouped

PACKAGES = ("tvm_pulp", "uma_backends", "schedules")


def public_classes(repository: Path) -> Iterator[tuple[str, str]]:
    """Names of classes and the files that define them."""
    for package in PACKAGES:
        for path in sorted((repository / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    yield node.name, str(path.relative_to(repository))


def shared_names(repository: Path) -> dict[str, list[str]]:
    return {name: files for name, files in grouped(public_classes(repository)).items() if len(files) > 1}


def test_no_class_name_stands_for_two_things(repository: Path) -> None:
    assert shared_names(repository) == {}


def test_a_second_class_of_a_name_is_found(tmp_path: Path) -> None:
    for package in PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "tiles.py").write_text("class Tile: ...\nclass _Own: ...\n")
    assert shared_names(tmp_path) == {"Tile": [f"{package}/tiles.py" for package in PACKAGES]}
