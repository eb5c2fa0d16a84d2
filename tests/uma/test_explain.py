"""`tvmc explain` with a target: for every layer the engine, what the others would take, and why some cannot."""

import re

import pytest

from tests.simulated.golden_cases import DATA
from tvm_pulp.tvmc.main import main


def explain(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["explain", "--suggestions=0", *arguments]) == 0
    return capsys.readouterr().out


def section(text: str, layer: str) -> str:
    match = re.search(rf"^{layer}: .*\n((?:    .*\n)+)", text, re.MULTILINE)
    assert match is not None, f"no layer {layer}"
    return match[1]


def test_every_layer_has_a_choice_and_its_alternatives(capsys: pytest.CaptureFixture[str]) -> None:
    text = explain(capsys, "zoo:resnet8", "--target=uma-neureka")
    strided = section(text, "stack2_conv1")
    assert len(re.findall("-> neureka", strided)) == 1
    # A 3x3 kernel with stride 2: both ways on the array and the cores, with their cost.
    costs = [int(n.replace(",", "")) for n in re.findall(r"about ([\d,]+) cycles", strided)]
    assert len(costs) >= 3 and costs[0] == min(costs)
    assert "im2col + 1x1" in strided and "at stride 1, discarding" in strided and "not cluster" in strided
    assert "not neureka: it has no add" in section(text, "stack1_add")
    assert re.search(r"MACs by engine: .*neureka (9\d|100)\.\d %", text)


def test_a_pin_overrules_the_cost(capsys: pytest.CaptureFixture[str]) -> None:
    text = explain(capsys, "zoo:resnet8", "--target=uma-neureka", "--pin=stem=cluster")
    assert "-> cluster" in section(text, "stem") and "not neureka, 3x3: about" in section(text, "stem")


@pytest.mark.parametrize(
    ("requant", "note"),
    [
        ("exact", "the cores requantize because half_up requantization rounds in a way the array cannot"),
        ("native", r"native requantization deviates by at most \d+ LSB"),
    ],
)
def test_requantization_is_explained(
    golden_data: object, capsys: pytest.CaptureFixture[str], requant: str, note: str
) -> None:
    model = str(DATA / "mlperf_tiny" / "toycar" / "model.tflite")
    text = explain(capsys, model, "--target=uma-neureka", f"--target-uma-neureka-requant={requant}")
    # Ten dense layers; the cores may take a small one.
    assert len(re.findall(rf"^ +{note}", text, re.M)) == text.count("    -> neureka, ") >= 9
