"""Marks: tests that need a framework are found by theirs (`scripts/test --jax`); a sample of cases runs by default."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent


FRAMEWORKS = ("torch", "jax", "tensorflow")


def _needed(text: str) -> list[str]:
    """Frameworks without which the module is skipped as a whole."""
    if "importorskip" not in text:
        return []  # every process that runs tests asks for all modules, and parsing them takes more than a second
    tree = ast.parse(text)
    calls = [s.value for s in tree.body if isinstance(s, ast.Assign | ast.Expr) and isinstance(s.value, ast.Call)]
    asked = [c.args[0] for c in calls if ast.unparse(c.func) == "pytest.importorskip"]
    return [name for name in FRAMEWORKS if any(ast.unparse(a) == f"'{name}'" for a in asked)]


NEED = [(p, n) for p in sorted(TESTS.rglob("test_*.py")) for n in _needed(p.read_text("utf-8"))]


def test_there_are_some() -> None:
    assert len(NEED) >= 5


@pytest.mark.parametrize(("path", "framework"), NEED, ids=lambda p: p.stem if isinstance(p, Path) else p)
def test_modules_that_need_a_framework_are_marked(path: Path, framework: str) -> None:
    marks = [
        ast.unparse(s.value)
        for s in ast.parse(path.read_text("utf-8")).body
        if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "pytestmark"
    ]
    assert marks and f"pytest.mark.{framework}" in marks[0]


@pytest.mark.parametrize(("count", "chosen"), [(1, "0"), (3, "0 2 5"), (8, "0 1 2 3 4 5 6 7"), (9, "0 1 2 3 4 5 6 7")])
def test_a_sample_of_the_cases_is_not_slow(pytester: pytest.Pytester, count: int, chosen: str) -> None:
    pytester.makeconftest((TESTS / "conftest.py").read_text("utf-8"))
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.sample({count})
        @pytest.mark.parametrize("case", range(8))
        def test_case(case):
            print("ran", case)
        """
    )
    told = ("-p", "no:xdist", "-W", "ignore::pytest.PytestUnknownMarkWarning")
    result = pytester.runpytest_inprocess("-s", "-m", "not slow", *told)
    assert " ".join(line.split("ran ")[1][0] for line in result.outlines if "ran " in line) == chosen
    assert pytester.runpytest_inprocess(*told).parseoutcomes()["passed"] == 8
