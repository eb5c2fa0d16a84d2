"""Marks: tests that need PyTorch are found by theirs (`scripts/test --torch`); a sample of cases runs by default."""

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
