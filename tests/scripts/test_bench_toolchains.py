"""The table of both toolchains: ratios, what does not build, and which rows there are."""

from typing import Any

import pytest

from tests.scripts.load_script import load_script
from tvm_pulp.errors import UserError


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    return load_script("bench_toolchains", monkeypatch)


def test_every_network_of_the_zoo_is_built_for_every_kind_of_core(script: Any) -> None:
    of_dscnn = [target for job, target, _ in script.rows() if job.name == "dscnn"]
    assert of_dscnn == [*script.TARGETS, *script.OTHERS]


def test_table(script: Any) -> None:
    row = {"outputs": "equal", "zig": 1000, "gcc": 1100, "zig_code": 4000, "gcc_code": 5000}
    bad = {"outputs": "does not build: more than 30 operands"}
    state = {"a on siracusa": row, "b on siracusa, NEUREKA": bad, "c on x": {**row, "outputs": "differ"}}
    lines = script.table(state, 5)
    assert "| a | siracusa | 1,000 | 1,100 | 1.100 | 4,000 | 5,000 | equal |" in lines
    assert f"| b | siracusa, NEUREKA | – | – | – | – | – | {bad['outputs']} |" in lines
    assert "3 of 5 archives were measured." in lines
    assert lines[-2].startswith("2 archives were built and run by both; outputs of 1 are equal")


def test_what_does_not_build_is_a_row(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class App:
        def run(self, *_: Any, **__: Any) -> None:
            raise UserError("the archive's C does not build: more than 30 operands")

    monkeypatch.setattr(script.tvm_pulp, "compile", lambda *_, **__: App())
    row = script.measure(next(script.rows())[0], {})
    assert row == {"outputs": "does not run: the archive's C does not build: more than 30 operands"}
