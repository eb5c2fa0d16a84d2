"""The benchmark's tables and pictures say what the reports say."""

from typing import Any
from xml.etree import ElementTree

from tvm_pulp.report.benchmark import breakdown, loss_table, markdown, measure, to_json
from tvm_pulp.report.stacked_bars import stacked_bars


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


def test_a_row_tells_bound_best_known_and_greedy() -> None:
    row = measure("KeywordSpotting", "NPU + weight memory", report(88_000), 12_345, "equal", 132_000)
    cells = [c.strip() for c in markdown([row])[2].strip("|").split("|")]
    assert cells[2:4] == ["88,000", "88,007"]
    assert "176,000" in cells and "2.00×" in cells and "1.50×" in cells and "12 kB" in cells and "9,876" in cells


def test_losses_and_groups_are_sorted() -> None:
    row = measure("n", "cluster", report(100), 0, "–")
    assert [name for name, _, _ in row.losses] == ["a", "b", "c"]
    assert row.groups == (("conv2d on neureka", 70), ("add on cluster", 30))
    assert "a on neureka 50; b on cluster 15; c on cluster 1" in loss_table([row])[2]
    assert "conv2d on neureka 70 (70 %); add on cluster 30 (30 %)" in breakdown([row])[2]


def test_changes_are_shown_against_an_earlier_run() -> None:
    before = to_json([measure("n", "cluster", report(200), 0, "–")])
    now = [measure("n", "cluster", report(100), 0, "–"), measure("m", "cluster", report(100), 0, "–")]
    lines = markdown(now, before)
    assert lines[0].startswith("| network | configuration | cycles | before | change |")
    assert lines[2].startswith("| n | cluster | 100 | 200 | -50.0 % |")
    assert lines[3].startswith("| m | cluster | 100 | – | new |")


def test_bars_are_as_long_as_their_cycles() -> None:
    bars = {"cluster": [("add", 300), ("conv2d", 100)], "NPU": [("conv2d", 100)]}
    root = ElementTree.fromstring(stacked_bars("n", bars))
    tag = "{http://www.w3.org/2000/svg}"
    widths = {}
    for rectangle in root.iter(f"{tag}rect"):
        title = rectangle.find(f"{tag}title")
        if title is not None:
            widths.setdefault(title.text, []).append(float(rectangle.attrib["width"]))
    assert widths == {"add: 300 cycles": [570.0], "conv2d: 100 cycles": [190.0, 190.0]}
    texts = [t.text for t in root.iter(f"{tag}text")]
    assert "400" in texts and "100" in texts


def test_small_segments_are_drawn_together() -> None:
    many = [(f"op{i}", 100 - i) for i in range(20)]
    text = stacked_bars("n", {"cluster": many})
    assert f"everything else: {sum(c for _, c in many[11:]):,} cycles" in text
