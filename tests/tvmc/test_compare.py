"""`tvmc compare`: tables and a page of two reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.report.compare_reports import compared


def report(cycles: int | None, **layers: int | None) -> dict[str, Any]:
    """A report with layers of so many cycles."""
    unknown = ("estimated_cycles", "bound_cycles", "dma_bytes", "dma_busy_cycles", "dma_stall_cycles", "tiles")
    fields = dict.fromkeys(("instructions", "macs_per_cycle", "estimated_cycles", "bound_cycles", "dma", "energy_uj"))
    return {
        **fields,
        "soc": "siracusa",
        "target": "c",
        "cycles": cycles,
        "macs": 10,
        "energy_model": None,
        "memory": {"l1": {"peak": 100, "capacity": 200}},
        "code_bytes": None,
        "layers": [
            {"name": n, "op": "add", "engine": "cluster", "cycles": c, "macs": 0, "deviation_lsb": 0}
            | dict.fromkeys(unknown)
            for n, c in layers.items()
        ],
        "host": dict.fromkeys(("compile_s", "build_s", "simulate_s", "mips")),
        "inputs": [],
        "outputs": [],
    }


def test_layers_of_one_name_stand_beside_each_other() -> None:
    first, second = report(9, a=1, b=2, c=6), report(8, a=1, x=3, c=4, y=0)
    assert compared(first, second)["layers"] == [[0, 0], [1, None], [None, 1], [2, 2], [None, 3]]
    moved = compared(report(3, a=1, b=2), report(3, b=2, a=1))["layers"]
    assert sorted(x for x, _ in moved if x is not None) == [0, 1]
    assert sorted(y for _, y in moved if y is not None) == [0, 1]


def test_tables_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, page = tmp_path / "cores.json", tmp_path / "npu.json", tmp_path / "both.html"
    a.write_text(json.dumps(report(200, conv=150, add=50)))
    b.write_text(json.dumps(report(100, conv=50, add=50)))
    done = tvmc(capsys, "compare", a, b, "--html", page)
    assert done.status == 0 and "-50.0 %" in done.out and "-66.7 %" in done.out and "cores" in done.out
    assert "<title>cores and npu</title>" in page.read_text(encoding="utf-8")


def test_runs_without_cycles_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    a.write_text(json.dumps(report(None, conv=None)))
    b.write_text(json.dumps(report(100, conv=50)))
    done = tvmc(capsys, "compare", a, b, "--html", tmp_path / "c.html")
    assert done.status == 0 and "100" in done.out


def test_what_is_no_report_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(report(1, a=1)))
    check_refused(tvmc(capsys, "compare", good, tmp_path / "absent.json"), ["absent.json", "No such file"], "compare")
    for text in ("{", "[]", "{}", '{"soc": 1}'):
        bad.write_text(text)
        check_refused(tvmc(capsys, "compare", good, bad), ["bad.json", "tvmc run --report"], "compare")
    for number in ("NaN", "Infinity", "1e999"):
        bad.write_text(json.dumps(report(1, a=1) | {"macs_per_cycle": 7.25}).replace("7.25", number))
        refused = tvmc(capsys, "compare", good, bad, "--html", tmp_path / "page.html")
        check_refused(refused, ["bad.json", "tvmc run --report"], "compare")
        assert not (tmp_path / "page.html").exists()
    check_refused(tvmc(capsys, "compare", good, good, "--html", tmp_path), ["--html", "folder"], "compare")


def modelled(soc: str, l1_byte: float) -> dict[str, Any]:
    """A report whose energy was modelled with such a coefficient."""
    model = {"source": f"SoC {soc}", "coefficients_pj": {"l1_byte": l1_byte}, "terms_uj": {"l1_byte": 8.0}}
    return {**report(9, a=9), "energy_uj": 8.0, "energy_spread": 0.25, "energy_model": {**model, "spreads": {}}}


def test_energies_of_two_rulers_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(report(9, a=9), modelled("one", 1.0))["energy_note"] is None
    same = compared(modelled("one", 1.0), modelled("one", 1.0))["energy_note"]
    assert "± 25 % and ± 25 %, by the same coefficients" in same
    paths = tmp_path / "one.json", tmp_path / "other.json"
    for path, made in zip(paths, (modelled("one", 1.0), modelled("other", 2.0)), strict=True):
        path.write_text(json.dumps(made))
    page = tmp_path / "both.html"
    done = tvmc(capsys, "compare", *paths, "--html", page)
    assert "by different rulers (SoC one and SoC other)" in " ".join(done.out.split())
    assert "by different rulers" in page.read_text(encoding="utf-8")


def test_names_of_any_length_give_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a file calls a key stands in the sentence, as far as a terminal can take it."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(report(1, a=1)))
    bad.write_text(json.dumps(report(1, a=1) | {"x" * 9000 + "\x1b[2J": 1}))
    refused = tvmc(capsys, "compare", good, bad)
    check_refused(refused, ["tvmc run --report"], "compare")
    assert len(refused.err) < 1600 and "\x1b" not in refused.err
