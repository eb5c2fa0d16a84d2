"""docs/operators.md is what the registries say now, and names everything they hold."""

import io
from pathlib import Path

import pytest

from tests.golden_texts import check_golden
from tests.language_models import hub_cells
from tvm_pulp.frontend import onnx_dialect
from tvm_pulp.frontend.operator_names import format_operators
from tvm_pulp.qnn import OPERATORS
from tvm_pulp.report.operators_page import dialect_operators, operators_page, own_backends, print_operators
from tvm_pulp.uma import registry

# The page is that of all engines of the tree.
ENGINES = ("ita", "ne16", "neureka", "qvanilla")


def test_the_page_is_up_to_date(repository: Path) -> None:
    for engine in ENGINES:
        pytest.importorskip(f"uma_backends.{engine}")
    check_golden(repository / "docs" / "operators.md", operators_page(hub_cells.table()))


def test_every_registered_thing_is_there() -> None:
    page = operators_page()
    for operator in OPERATORS:
        assert f"### {operator}\n" in page
    for name in onnx_dialect.CONVERTERS:
        assert f"`{name}`" in page
    for backend in own_backends():
        for pattern in backend.patterns:
            assert f"| {backend.target_name} | {pattern.name} |" in page
    for kernels in registry.core_kernels("xpulp").values():
        for kernel, limits in kernels:
            assert f"| cores | {kernel} kernel | {limits} |" in page


def test_limits_are_stated() -> None:
    """Which layers an engine or a kernel takes is said in words wherever it is not all of them."""
    operators = dialect_operators(own_backends(), "xpulp")
    assert [(o.name, run.how) for o in operators for run in o.runs if not run.limits] == []
    (conv2d,) = (o for o in operators if o.name == "conv2d")
    assert {run.engine for run in conv2d.runs} >= {"neureka", "qvanilla", "cores"}
    assert any("3x3" in run.limits for run in conv2d.runs)
    assert all(o.runs[-1].how == "generated C" for o in operators)


def test_frontends_know_what_the_page_says() -> None:
    groups = {group.title: set(group.names) for group in format_operators()}
    assert {"Conv", "LSTM", "MatMul"} <= groups["ONNX"] and "QLinearConv" in groups["ONNX, quantized operators"]
    assert "CONV_2D" in groups["TFLite, quantized"] and "RequantShift" in groups["ONNX, integer PULP dialect"]
    assert not groups["ONNX"] & groups["ONNX, refused"] and "NonZero" in groups["ONNX, refused"]


def test_a_terminal_shows_it_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    stream = io.StringIO()
    print_operators(stream)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("    neureka, conv2d: ") for line in lines)
    assert any(line.startswith("    cores, generated C: any layer") for line in lines)
