"""The table of both toolchains: ratios, what does not build, and which rows there are."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.scripts.load_script import load_script
from tvm_pulp.errors import UserError

ROW = {"outputs": "equal", "zig": 1000, "gcc": 1100, "zig_code": 4000, "gcc_code": 5000}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    return load_script("bench_toolchains", monkeypatch)


def test_every_network_of_the_zoo_is_built_for_every_kind_of_core(script: Any) -> None:
    of_dscnn = [target for job, target, _ in script.rows() if job.name == "dscnn"]
    assert of_dscnn == [*script.TARGETS, *script.OTHERS]


def test_table(script: Any) -> None:
    bad = {"outputs": "does not build: more than 30 operands"}
    state = {"a on siracusa": ROW, "b on siracusa, NEUREKA": bad, "c on x": {**ROW, "outputs": "differ"}}
    lines = script.table(state, 5)
    assert "| a | siracusa | 1,000 | 1,100 | 1.100 | 4,000 | 5,000 | equal |" in lines
    assert f"| b | siracusa, NEUREKA | – | – | – | – | – | {bad['outputs']} |" in lines
    assert "3 of 5 archives were measured." in lines
    assert lines[-2].startswith("2 archives were built and run by both; outputs of 1 are equal")


def test_what_is_refused_is_no_archive(script: Any) -> None:
    lines = script.table({"a on siracusa": ROW, "b on minpool": {"outputs": "refused: no room: use less"}}, 2)
    assert not any("| b |" in line for line in lines)
    assert "1 of 1 archives were measured." in lines
    assert lines[-1] == "No archive, b on minpool: no room: use less."


def test_rows_are_read_back_from_the_page(script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    state = {"a on siracusa": ROW, "b on siracusa, NEUREKA": {"outputs": "does not run: it does not build"}}
    page, read = tmp_path / "BENCHMARKS.md", script.written_rows
    script.write_section(script.SECTION, script.table(state, 5), page)
    monkeypatch.setattr(script, "written_rows", lambda title: read(title, page))
    assert script.written() == state


@pytest.mark.parametrize("again", [False, True])
def test_rows_of_the_page_are_measured_only_again(
    script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, again: bool
) -> None:
    """Rows come in the order of the list, whenever they were measured."""
    state, measured = tmp_path / "state.json", []
    jobs = [SimpleNamespace(name=name) for name in ("a", "b", "c")]
    monkeypatch.setattr(script, "find_riscv_gcc", lambda: None)
    monkeypatch.setattr(script, "rows", lambda: [(job, "siracusa", {}) for job in jobs])
    monkeypatch.setattr(script, "written", lambda: {"b on siracusa": ROW, "gone on siracusa": ROW})
    monkeypatch.setattr(script, "measure", lambda job, options: measured.append(job.name) or ROW)
    shown: list[str] = []
    monkeypatch.setattr(script, "table", lambda state, planned: shown.extend(state) or [])
    monkeypatch.setattr(script.sys, "argv", ["bench", "--state", str(state), *["--again"] * again])
    assert script.main() == 0
    assert measured == (["a", "b", "c"] if again else ["a", "c"])
    assert shown == [f"{name} on siracusa" for name in ("a", "b", "c")]


def test_what_does_not_build_is_a_row(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class App:
        def run(self, *_: Any, **__: Any) -> None:
            raise UserError("the archive's C does not build: more than 30 operands")

    monkeypatch.setattr(script.tvm_pulp, "compile", lambda *_, **__: App())
    row = script.measure(next(script.rows())[0], {})
    assert row == {"outputs": "does not run: the archive's C does not build: more than 30 operands"}
