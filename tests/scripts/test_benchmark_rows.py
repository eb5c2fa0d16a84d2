"""The benchmark's tables say what the reports say."""

from typing import Any

import pytest

from tests.scripts.load_script import load_script


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    return load_script("benchmark_rows.py", monkeypatch)


def report(cycles: int) -> dict[str, Any]:
    layers = [
        {"name": "a", "op": "conv2d", "engine": "neureka", "cycles": cycles - 30, "bound_cycles": 20},
        {"name": "b", "op": "add", "engine": "cluster", "cycles": 20, "bound_cycles": 5},
        {"name": "c", "op": "add", "engine": "cluster", "cycles": 10, "bound_cycles": 9},
    ]
    layers = [{**layer, "estimated_cycles": layer["cycles"]} for layer in layers]
    return {
        "cycles": cycles, "cold_cycles": cycles + 7, "macs": 4 * cycles, "bound_cycles": 20, "energy_uj": 1.5,
        "energy_spread": 0.25, "code_bytes": 9_876, "layers": layers,
    }  # fmt: skip


def test_a_row_tells_bound_best_known_and_greedy(rows: Any) -> None:
    row = rows.measure("KeywordSpotting", "NPU + weight memory", report(88_000), 12_345, "equal", 132_000)
    cells = [c.strip() for c in rows.markdown([row])[2].strip("|").split("|")]
    assert cells[2:4] == ["88,000", "88,007"]
    assert "176,000" in cells and "2.00×" in cells and "1.50×" in cells and "12 kB" in cells and "9,876" in cells


def test_losses_and_groups_are_sorted(rows: Any) -> None:
    row = rows.measure("n", "cluster", report(100), 0, "–")
    assert [name for name, _, _ in row.losses] == ["a", "b", "c"]
    assert row.groups == (("conv2d on neureka", 70), ("add on cluster", 30))
    assert "a on neureka 50; b on cluster 15; c on cluster 1" in rows.loss_table([row])[2]
    assert "conv2d on neureka 70 (70 %); add on cluster 30 (30 %)" in rows.breakdown([row])[2]


def test_changes_are_shown_against_an_earlier_run(rows: Any) -> None:
    before = rows.to_json([rows.measure("n", "cluster", report(200), 0, "–")])
    now = [rows.measure("n", "cluster", report(100), 0, "–"), rows.measure("m", "cluster", report(100), 0, "–")]
    lines = rows.markdown(now, before)
    assert lines[0].startswith("| network | configuration | cycles | before | change |")
    assert lines[2].startswith("| n | cluster | 100 | 200 | -50.0 % |")
    assert lines[3].startswith("| m | cluster | 100 | – | new |")
