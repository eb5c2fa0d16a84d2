"""Decisions that a user states: the search keeps to them, and what cannot be is one sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

import tvm_pulp
from tvm_pulp.errors import UserError
from tvm_pulp.planning.search import stated_offers
from tvm_pulp.tvmc.main import main
from tvm_pulp.uma.strategy import TileAxis

CORES = {"target": "c", "soc": "siracusa"}
NPU = {"target": "uma-neureka"}


def planned(model: str, options: dict[str, Any], decide: dict[str, Any]) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads(tvm_pulp.compile(model, **options, decide=decide).files["plan.json"])
    return plan


def layer_of(plan: dict[str, Any], name: str) -> dict[str, Any]:
    return next(layer for layer in plan["layers"] if layer["name"] == name)


@pytest.fixture(scope="module")
def free() -> dict[str, Any]:
    """A residual network as the search plans it."""
    return planned("zoo:resnet8", NPU, {})


def test_nothing_stated_changes_nothing(free: dict[str, Any]) -> None:
    assert json.loads(tvm_pulp.compile("zoo:resnet8", **NPU).files["plan.json"]) == free


def test_order_engine_form_and_tile(free: dict[str, Any]) -> None:
    """Two branches the other way round, a layer on the cores, another in a cut that the search did not take."""
    order = ["stack2_conv2", "stack2_shortcut"]
    places = {layer["name"]: place for place, layer in enumerate(free["layers"])}
    cut = layer_of(free, "stack1_conv1")
    tile = [1, 5, *cut["tile"][2:]]
    assert places[order[0]] > places[order[1]] and cut["tile"] != tile
    assert layer_of(free, "stack1_conv2")["engine"] == "neureka"
    layers = {"stack1_conv1": {"form": cut["form"], "tile": tile}, "stack1_conv2": {"engine": "cluster"}}
    plan = planned("zoo:resnet8", NPU, {"order": order, "layers": layers})
    assert layer_of(plan, "stack1_conv2")["engine"] == "cluster"
    found = layer_of(plan, "stack1_conv1")
    assert (found["tile"], found["form"]) == (tile, cut["form"])
    places = {layer["name"]: place for place, layer in enumerate(plan["layers"])}
    assert places[order[0]] < places[order[1]]


def test_levels_of_constants() -> None:
    """On cores alone everything lies in L2; weights that are stated come from L3. They are named after their cut."""
    layers, name = {"dense1": {"tile": [1, 64]}}, "dense1_packed_0_64"
    plan = planned("zoo:autoencoder", CORES, {"layers": layers, "levels": {name: "l3"}})
    levels = {constant["name"]: constant["level"] for constant in plan["constants"]}
    assert [other for other, level in levels.items() if level == "l3"] == [name]


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        ({"order": ["nothing"]}, "there is no layer 'nothing': "),
        ({"layers": {"dense10": {"engine": "cluster"}}}, "there is no layer 'dense10': did you mean 'dense1'"),
        (
            {"layers": {"dense1": {"engine": "npu"}}},
            "--decide: layer 'dense1': engine 'npu' is not part of this target",
        ),
        ({"layers": {"dense1": {"form": "fast"}}}, "layer 'dense1' .* has no form 'fast': choose '"),
        ({"layers": {"dense1": {"tile": [3, 3]}}}, r"cannot be cut into tiles of \[3, 3\]: its result is \[1, 128\]"),
        ({"order": ["dense2", "dense1"]}, "layer 'dense2' cannot run where the order says"),
        ({"order": ["dense1", "dense1"]}, "layer 'dense1' is in the order more than once"),
        ({"levels": {"w": "l3"}}, "there is no constant 'w'"),
        ({"levels": {"dense1_mul": "l4"}}, "constant 'dense1_mul' cannot lie in 'l4': choose l2 or l3"),
        ({"cuts": {}}, "--decide: cuts: extra inputs are not permitted"),
        ({"order": "dense1"}, "--decide: order: "),
    ],
)
def test_what_cannot_be(decide: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        tvm_pulp.compile("zoo:autoencoder", **CORES, planner="greedy", decide=decide)


@pytest.mark.parametrize(
    ("tile", "reason"),
    [
        ((8, 16), ""),
        ((7, 16), "axis 0 is cut in steps of 4"),
        ((12, 16), "axis 0 is cut into at most 8"),
        ((8, 8), "axis 1 is not cut, state 16"),
        ((8,), "its result is [30, 16]"),
        ((0, 16), "its result is [30, 16]"),
    ],
)
def test_tiles_are_cut_as_a_form_can(tile: tuple[int, ...], reason: str) -> None:
    found = stated_offers.why_not_cut(tile, (30, 16), [TileAxis(0, step=4, limit=8)])
    assert found.partition(": ")[2] == reason


def test_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "decide.json", tmp_path / "net.tar"
    arguments = ["compile", "zoo:autoencoder", "-q", "--target=c", "--soc=siracusa", "--planner=greedy", "-o", str(out)]
    path.write_text('{"layers": {"dense3": {"engine": "cluster"}}}')
    assert main([*arguments, "--decide", str(path)]) == 0
    assert main([*arguments, "--decide", str(path), "--pin", "dense3=npu"]) == 2
    assert "--decide keeps layer 'dense3' on cluster and --pin on npu" in capfd.readouterr().err
    for text, message in (("[1]", "--decide"), ("no", "is no JSON"), ('{"order": [1]}', "order.0: ")):
        path.write_text(text)
        assert main([*arguments, "--decide", str(path)]) == 2
        error = capfd.readouterr().err
        assert message in error and error.count("\n") == 1, error
