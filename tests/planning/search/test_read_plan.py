"""A plan read back from an archive makes the same archive again, and no planner is asked."""

import json
from pathlib import Path
from typing import Any

import pytest

import tvm_pulp
from tests.simulated.golden_cases import CONFIGURATIONS, read_arrays
from tvm_pulp.errors import UserError
from tvm_pulp.planning.search import driver

ZOO: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("resnet8", {"target": "uma-neureka"}, {}),
    ("dscnn", {"target": "c", "soc": "siracusa"}, {"l1": 16384, "cores": 3}),
    ("dscnn", {"target": "uma-neureka"}, {"double_buffer": False}),
    ("dscnn", {"target": "uma-neureka"}, {"planner": "greedy"}),
    # Constants from L3.
    ("autoencoder", {"target": "c", "soc": "siracusa"}, {"l2": 200000}),
    # Records in smaller pages.
    ("resnet8", {"target": "c", "soc": "siracusa"}, {"l1": 8192, "effort": "fast"}),
]
# Constants from L3, many at a time.
LARGE = ("mobilenetv1_1.0_128", {"target": "uma-neureka", "engine_options": {"neureka": {"weight_memory": "none"}}}, {})
GOLDEN = ["Models/MLPerf/KeywordSpotting", "Models/CCT/Int/ICCT"]
MORE_GOLDEN = ["Models/MLPerf/VisualWakeWords", "Models/microLlama/INT8/microLlama64"]


def forbid_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever plans fails."""

    def fail(*_arguments: Any, **_options: Any) -> Any:
        raise AssertionError("a planner was asked")

    monkeypatch.setattr(driver, "find_plan", fail)


def check(
    monkeypatch: pytest.MonkeyPatch, folder: Path, model: str, target: dict[str, Any], limits: dict[str, Any]
) -> None:
    first = tvm_pulp.compile(model, **target, **limits)
    first.save(folder / "first.tar")
    (folder / "plan.json").write_bytes(first.files["plan.json"])
    forbid_planning(monkeypatch)
    for plan in ("first.tar", "plan.json"):
        again = tvm_pulp.compile(model, plan=folder / plan, **target)
        assert again.files == first.files


@pytest.mark.sample(1)
@pytest.mark.parametrize(("model", "target", "limits"), [*ZOO, pytest.param(*LARGE, marks=pytest.mark.slow)])
def test_zoo(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: str, target: dict[str, Any], limits: dict[str, Any]
) -> None:
    check(monkeypatch, tmp_path, f"zoo:{model}", target, limits)


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", [*GOLDEN, *(pytest.param(case, marks=pytest.mark.slow) for case in MORE_GOLDEN)])
def test_golden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, golden_data: Path, case: str) -> None:
    folder = golden_data / "deeploy" / case
    target = {**CONFIGURATIONS["neureka-sram"], "sample_inputs": read_arrays(folder / "inputs.npz")}
    check(monkeypatch, tmp_path, str(folder / "network.onnx"), target, {})


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    path.write_bytes(tvm_pulp.compile("zoo:dscnn", "uma-neureka").files["plan.json"])
    return path


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("zoo:resnet8", {"target": "uma-neureka"}, "does not match this model and target"),
        ("zoo:dscnn", {"target": "c", "soc": "siracusa"}, "on neureka for layer '.*' does not match"),
        ("zoo:dscnn", {"target": "uma-neureka", "l1": 30000}, "--l1 has no effect with --plan"),
        ("zoo:dscnn", {"target": "uma-neureka", "planner": "greedy"}, "--planner has no effect with --plan"),
        ("zoo:dscnn", {"target": "uma-neureka", "double_buffer": False}, "--no-double-buffer has no effect with"),
        ("zoo:dscnn", {"target": "c"}, r"or one for another kind of machine \(siracusa; ram_limit: field required\)"),
    ],
)
def test_what_does_not_match_is_named(plan_file: Path, model: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        tvm_pulp.compile(model, plan=plan_file, **options)


def shift_a_block(plan: dict[str, Any]) -> None:
    largest = max(plan["blocks"], key=lambda block: block["bytes"])
    largest["offset"] = 0 if largest["offset"] else 16


def change_a_tile(plan: dict[str, Any]) -> None:
    plan["layers"][1]["tile"][1] = 1


def keep_nothing(plan: dict[str, Any]) -> None:
    plan["resident"] = {}


def forget_the_leads(plan: dict[str, Any]) -> None:
    for layer in plan["layers"]:
        del layer["lead"]


@pytest.mark.parametrize("spoil", [shift_a_block, change_a_tile, keep_nothing, forget_the_leads])
def test_a_spoilt_plan_is_refused(plan_file: Path, tmp_path: Path, spoil: Any) -> None:
    plan = json.loads(plan_file.read_text())
    spoil(plan)
    path = tmp_path / "spoilt.json"
    path.write_text(json.dumps(plan))
    with pytest.raises(UserError, match=r"^--plan: "):
        tvm_pulp.compile("zoo:dscnn", "uma-neureka", plan=path)


def test_files_that_hold_no_plan(tmp_path: Path) -> None:
    text = tmp_path / "text.json"
    text.write_text("no plan")
    host = tmp_path / "host.tar"
    tvm_pulp.compile("zoo:dscnn", "c").save(host)
    for path, message in (
        (tmp_path / "absent.json", "cannot read"),
        (text, "neither an archive nor a plan.json"),
        (host, r"or one for another kind of machine \(host; "),
    ):
        with pytest.raises(UserError, match=message):
            tvm_pulp.compile("zoo:dscnn", "uma-neureka", plan=path)


def test_a_plan_serves_a_soc_that_differs_in_time_only(tmp_path: Path) -> None:
    """Bank conflicts change nothing that a plan is made of; an engine more does."""
    path, model, target = tmp_path / "net.tar", "zoo:autoencoder", "uma-neureka"
    first = tvm_pulp.compile(model, target, soc="siracusa-gvsoc")
    first.save(path)
    banks = tvm_pulp.compile(model, target, soc="siracusa-gvsoc-banks", plan=path)
    programs = [json.loads(app.files["plan.json"], object_hook=_timeless)["program"] for app in (first, banks)]
    assert programs[0] == programs[1] and banks.run().report["soc"] == "siracusa-gvsoc-banks"
    with pytest.raises(
        UserError, match="made for --soc siracusa-gvsoc, not siracusa-gvsoc-ita, whose memories, cores or"
    ):
        tvm_pulp.compile(model, target, soc="siracusa-gvsoc-ita", plan=path)


def _timeless(record: dict[str, Any]) -> dict[str, Any]:
    """Without estimates."""
    return {key: value for key, value in record.items() if not key.endswith("cycles")}
