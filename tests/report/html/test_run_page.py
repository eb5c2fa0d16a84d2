"""The page of a run: self-contained, complete, and safe with any name."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.report.html.example_runs import example_run
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.api import Result
from tvm_pulp.errors import UserError
from tvm_pulp.report.html.timeline_data import join_neighbours


def data_of(page: str) -> dict[str, Any]:
    """What a page draws."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return dict(json.loads(text))


def test_a_page_reaches_nothing_outside() -> None:
    page = example_run("dscnn", "uma-neureka").to_html()
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)""", page)
    assert "http://" not in page and "https://" not in page and "@import" not in page and "url(" not in page
    assert "default-src 'none'" in page


def test_the_page_holds_the_report_and_both_timelines() -> None:
    result = example_run("dscnn", "uma-neureka")
    data = data_of(result.to_html(title="keywords"))
    assert data["title"] == "keywords" and data["report"] == json.loads(json.dumps(result.report))
    time = data["timeline"]
    kinds = {(lane["group"], lane["kind"]) for lane in time["lanes"]}
    assert {("cores", "measured"), ("cores", "expected"), ("neureka", "measured"), ("neureka", "expected")} <= kinds
    assert {("load", "measured"), ("load", "expected")} <= kinds
    assert [end - start for start, end in time["layers"]] == [layer["cycles"] for layer in result.report["layers"]]
    assert all(
        0 <= a <= b <= time["measured"] for la in time["lanes"] if la["kind"] == "measured" for a, b, _ in la["spans"]
    )
    # Jobs are those of layers that run there, and all of their time is shown.
    (jobs,) = (lane for lane in time["lanes"] if (lane["group"], lane["kind"]) == ("neureka", "measured"))
    engines = {result.report["layers"][layer]["engine"] for _, _, layer in jobs["spans"]}
    assert engines == {"neureka"}
    assert sum(b - a for a, b, _ in jobs["spans"]) >= result.report["causes"]["neureka"]["compute"]
    levels = {level["name"]: level for level in data["memory"]}
    # Every buffer has its layer; only an input of the network may have none.
    assert [block[0] for block in levels["L1"]["blocks"] if block[5] is None] == [] and levels["weight memory"][
        "constants"
    ]
    assert all(user is not None for _, _, user in levels["weight memory"]["constants"])
    assert data["roofline"]["roofs"]["neureka"] > 0
    nodes, edges = data["graph"]["nodes"], data["graph"]["edges"]
    assert sum("layer" in node for node in nodes) == len(result.report["layers"])
    assert all(nodes[a]["rank"] < nodes[b]["rank"] for a, b in edges)
    assert {node.get("end") for node in nodes} == {None, "input", "output"}


def test_a_page_of_the_host_says_what_it_does_not_know() -> None:
    data = data_of(example_run("dscnn", "c").to_html())
    assert data["timeline"] is None and data["roofline"] is None
    assert data["graph"]["nodes"] and [level["name"] for level in data["memory"]] == ["arena", "constants", "all"]


def test_memories_of_a_cpu_over_its_layers() -> None:
    data = data_of(example_run("dscnn", "c").to_html())
    arena, constants, _ = data["memory"]
    assert arena["unit"] == "layers" and arena["end"] == len(data["report"]["layers"])
    assert max(offset + size for _, offset, size, *_ in arena["blocks"]) == arena["size"] == arena["peak"]
    assert all(0 <= first < last <= arena["end"] for *_, first, last, _ in arena["blocks"])
    # The maker of a buffer is alive when it begins.
    assert all(layer == first for *_, first, _, layer in arena["blocks"])
    assert sum(size for _, size, _ in constants["constants"]) == constants["peak"]


def test_names_cannot_end_the_script() -> None:
    result = example_run("dscnn", "c")
    evil = "</script><script>alert(1)</script><!--"
    layers = [dict(layer, name=evil) for layer in result.report["layers"]]
    page = replace(result, report=dict(result.report, layers=layers)).to_html(title=evil)
    assert page.count("</script>") == 2 and "alert(1)</script>" not in page
    assert data_of(page)["report"]["layers"][0]["name"] == evil


def test_a_result_without_details_says_so() -> None:
    with pytest.raises(UserError, match="no details"):
        Result({}, {}).to_html()


def test_long_lanes_are_joined_where_gaps_are_smallest() -> None:
    spans = [(0, 10, 0), (11, 20, 0), (40, 50, 0), (50, 60, 1), (61, 70, 1)]
    assert join_neighbours(spans, 5) == [list(span) for span in spans]
    assert join_neighbours(spans, 3) == [[0, 20, 0], [40, 50, 0], [50, 70, 1]]
    assert join_neighbours(spans, 1) == [[0, 50, 0], [50, 70, 1]]


def test_the_command_line_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive, page = tmp_path / "words.tar", tmp_path / "words.html"
    assert tvmc(capsys, "compile", "-q", "zoo:autoencoder", "-o", archive).status == 0
    assert tvmc(capsys, "run", archive, "--html", page).status == 0
    assert "<title>words: c on host</title>" in page.read_text(encoding="utf-8")
    check_refused(tvmc(capsys, "run", archive, "--html", tmp_path / "no" / "a.html"), ["--html", "no"], "run")
