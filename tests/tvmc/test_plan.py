"""`tvmc plan`: a table on stdout, pictures in a folder."""

from __future__ import annotations

import json
from pathlib import Path
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


def test_a_host_has_nothing_to_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "zoo:resnet8", "--target=c"]) == 2
    assert "has no cluster to plan for" in capsys.readouterr().err


def test_options_without_effect_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--no-double-buffer"], ["--l2", "100000"]):
        assert main(["plan", "zoo:resnet8", "--target=c", *option]) == 2
        assert "has no effect on --soc host" in capsys.readouterr().err
