"""`tvmc plan`: a table on stdout, pictures in a folder."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tvm_pulp.tvmc.main import main


def test_plan_prints_a_table_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "zoo:resnet8", "--target=uma-neureka", "-o", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "stack1_conv1" in text and "neureka" in text and "cycles; L1 peak" in text
    plan = json.loads((tmp_path / "plan.json").read_text())
    for name, least in (("l1.svg", len(plan["blocks"])), ("l2.svg", len(plan["l2"]["tensors"])), ("timeline.svg", 20)):
        root = ElementTree.parse(tmp_path / name).getroot()
        assert len(root.findall("{http://www.w3.org/2000/svg}rect")) > least


def test_the_table_fits_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["plan", "zoo:resnet8", "--target=uma-neureka", "--planner=greedy"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80 and "…" not in text
    for word in ("stack1_conv1", "estimate", "others", "output in"):
        assert word in text


def made_plan(folder: Path, *arguments: str) -> dict[str, Any]:
    assert main(["plan", *arguments, "-o", str(folder)]) == 0
    return dict(json.loads((folder / "plan.json").read_text()))


def test_every_option_shows_in_the_plan(tmp_path: Path) -> None:
    model = ("zoo:dscnn", "--target=uma-neureka")
    free = made_plan(tmp_path / "free", *model)
    small = made_plan(tmp_path / "small", *model, "--l1=20000")
    assert small["l1_bytes"] == 20000 >= small["l1_peak"] and free["l1_peak"] > 20000
    assert made_plan(tmp_path / "cores", *model, "--cores=2")["cores"] == 2 != free["cores"]
    serial = made_plan(tmp_path / "serial", *model, "--no-double-buffer")
    assert not serial["double_buffer"] and not any(layer["lead"] for layer in serial["layers"])
    assert free["double_buffer"] and any(layer["lead"] for layer in free["layers"])
    name = next(layer["name"] for layer in free["layers"] if layer["engine"] == "neureka")
    pinned = made_plan(tmp_path / "pinned", *model, f"--pin={name}=cluster")
    assert {layer["name"]: layer["engine"] for layer in pinned["layers"]}[name] == "cluster"
    greedy = made_plan(tmp_path / "greedy", *model, "--planner=greedy")
    assert greedy["planner"]["name"] == "greedy" and not greedy["resident"] and free["resident"]
    again = made_plan(tmp_path / "again", *model, "--plan", str(tmp_path / "pinned" / "plan.json"))
    assert again == pinned


def test_a_small_l2_sends_constants_to_l3(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, "zoo:autoencoder", "--target=c", "--soc=siracusa", "--l2=200000")
    levels = {constant["level"] for constant in plan["constants"]}
    # Only as many as have to: the others stay.
    assert levels == {"l2", "l3"}
    large = [constant for constant in plan["constants"] if constant["bytes"] >= 2048]
    assert {constant["level"] for constant in large} == {"l2", "l3"}


def test_the_planner_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "zoo:dscnn", "--target=uma-neureka", "-o", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "planner solver: '" in text and "gap" in text and "deterministic seconds" in text
    assert "others" in text and "cluster " in text
    timeline = (tmp_path / "timeline.svg").read_text()
    assert " cycles</text>" in timeline and "One colour per layer" in timeline


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--planner=best"], "--planner 'best' is unknown: choose solver or greedy"),
        (["--planner=greedy", "--no-double-buffer"], "--no-double-buffer has no effect on --planner greedy"),
        (["--plan=absent.json"], "--plan: cannot read 'absent.json'"),
        (["--plan=absent.json", "--cores=2"], "--cores has no effect with --plan"),
        (["--cores=9"], "has 1 to 8 cores"),
        (["--pin=nowhere=cluster"], "there is no layer 'nowhere'"),
    ],
)
def test_options_that_cannot_be_followed(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["plan", "zoo:dscnn", "--target=uma-neureka", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_programs_of_cpus(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["plan", "zoo:dscnn", "--soc=cortex-m4", "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    rows = [line.split("│")[1:-1] for line in out.splitlines() if line.startswith("│")]
    assert len(rows) == 11 and sum(int(row[4].replace(",", "")) for row in rows if row[4].strip() != "-") == 2_656_768
    assert "place of stem" in out and "stack 8,192" in out
    # What is alive is never more than the arena.
    whole = int(re.findall(r"activations ([\d,]+)", out)[0].replace(",", ""))
    assert max(int(row[-1].replace(",", "")) for row in rows) == whole
    assert ElementTree.parse(tmp_path / "memory.svg").getroot().tag.endswith("svg")
    assert main(["plan", "zoo:dscnn", "--soc=cortex-m4", "--flash=64k"]) == 0
    assert "constants 33,728 bytes" in out and "constants 33,728 bytes" not in capsys.readouterr().out
    assert json.loads((tmp_path / "plan.json").read_text())["layers"][1]["form"] == "depthwise windows"
    assert main(["plan", "zoo:llama_0.5m", "--soc=host", "-o", str(tmp_path / "llama")]) == 0
    assert capsys.readouterr().out.startswith("decode:\n")
    assert (tmp_path / "llama" / "decode" / "plan.json").is_file()


def test_options_without_effect_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--no-double-buffer"], ["--l2", "100000"], ["--planner", "greedy"]):
        assert main(["plan", "zoo:resnet8", "--target=c", *option]) == 2
        assert "has no effect on --soc host" in capsys.readouterr().err
