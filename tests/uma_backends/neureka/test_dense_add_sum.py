"""A product, a constant row and another tensor or a function as one region: found, and the numbers of onnxruntime."""

from pathlib import Path

import pytest

from tests.real_models.exported_graph import ExportedGraph
from tests.uma_backends.conv_array.test_summed import forms

ROWS, CHANNELS = 17, 20


def graph(rows: int, row_first: bool, other_first: bool, curved: bool) -> ExportedGraph:
    """A linear layer as exporters write it; a residual around it, or a function behind it."""
    g = ExportedGraph("linear")
    x = str(g.node("Tanh", g.input("input", [1, rows, CHANNELS])))
    y = str(g.node("MatMul", x, g.parameter(g.normal(CHANNELS, CHANNELS))))
    row = g.parameter(g.normal(CHANNELS))
    y = str(g.node("Add", *((row, y) if row_first else (y, row))))
    y = str(g.node("Tanh", y)) if curved else str(g.node("Add", *((x, y) if other_first else (y, x))))
    g.output(str(g.node("MatMul", y, g.parameter(g.normal(CHANNELS, 8)))), [1, rows, 8])
    return g


def found(folder: Path, rows: int = ROWS, seed: int = 0, **options: bool) -> dict[str, str]:
    given = {"row_first": False, "other_first": False, "curved": False, **options}
    return forms(graph(rows, **given), (1, rows, CHANNELS), folder, seed, target="uma-neureka", planner="greedy")


def test_a_residual_is_added_behind_the_row(tmp_path: Path) -> None:
    assert found(tmp_path)["dense+add+add"] == "1x1 over rows, added and summed"


def test_a_function_of_few_rows_is_one_table(tmp_path: Path) -> None:
    assert found(tmp_path, curved=True)["dense+add+lookup"] == "1x1 over rows, added, by a table"


@pytest.mark.slow
@pytest.mark.parametrize("row_first", [False, True])
@pytest.mark.parametrize("other_first", [False, True])
@pytest.mark.parametrize("rows", [2, 17, 40])
def test_sides_and_rows(row_first: bool, other_first: bool, rows: int, tmp_path: Path) -> None:
    made = [found(tmp_path, rows, seed, row_first=row_first, other_first=other_first) for seed in range(3)]
    # A sum with a tie is no line, and two rows may be faster in two passes.
    assert rows == 2 or any("dense+add+add" in layers for layers in made), made


@pytest.mark.slow
def test_a_single_row_keeps_its_own_kernels(tmp_path: Path) -> None:
    assert not any("summed" in form for form in found(tmp_path, 1).values())
