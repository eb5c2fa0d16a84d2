"""Independent layers on parts of hundreds of cores."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.branches import write_branches
from tests.simulated.simulated_run import simulate
from tvm_pulp import soc
from tvm_pulp.planning.check import verify_plan
from tvm_pulp.planning.program.actions import KernelAction, Step
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.search.moves import MOVES, TEAM, apply_moves
from tvm_pulp.report.pipelines import side_by_side_texts

MEMPOOL = soc.load("mempool")


def plan_of(model: Path, machine: str = "mempool") -> PlanJson:
    record = tvm_pulp.compile(model, target="c", soc=machine).plan.record
    assert isinstance(record, PlanJson)
    return record


def test_two_chains_run_on_two_halves_and_meet_by_themselves(tmp_path: Path) -> None:
    """Each half meets between its two layers, all cores in front of the sum; without one of these it is a race."""
    record = plan_of(write_branches(tmp_path / "two.onnx", 2, 2))
    teams = {layer.name: layer.team for layer in record.layers if layer.team is not None}
    assert teams == {"branch_0_0": 2, "branch_0_1": 2, "branch_1_0": 3, "branch_1_1": 3}
    assert verify_plan(record, MEMPOOL) == []
    names = [f"branch_{branch}_0 > branch_{branch}_1 on cores" for branch in (0, 1)]
    assert side_by_side_texts(record) == [f"{names[0]} 0 to 127, {names[1]} 128 to 255"]
    meetings = [number for number, step in enumerate(record.program) if step.team is not None]
    assert [record.program[number].team for number in meetings] == [2, 3]
    for number in meetings:
        for spoiled in ({"barrier": False, "team": None}, {"team": 5 - (record.program[number].team or 0)}):
            assert verify_plan(_with_step(record, number, replace(record.program[number], **spoiled)), MEMPOOL) != []


def test_a_kernel_on_cores_that_did_not_meet_is_found(tmp_path: Path) -> None:
    record = plan_of(write_branches(tmp_path / "two.onnx", 2, 2))
    number, kernel = next(
        (number, action)
        for number, step in enumerate(record.program)
        for action in step.actions
        if isinstance(action, KernelAction) and action.team == 2 and step.team == 2
    )
    moved = replace(record.program[number], actions=(replace(kernel, team=3),))
    assert verify_plan(_with_step(record, number, moved), MEMPOOL) != []


def _with_step(record: PlanJson, number: int, step: Step) -> PlanJson:
    return replace(record, program=(*record.program[:number], step, *record.program[number + 1 :]))


def test_a_plan_with_teams_is_read_back(tmp_path: Path) -> None:
    model = write_branches(tmp_path / "four.onnx", 4, 1)
    first = tvm_pulp.compile(model, target="c", soc="mempool")
    (tmp_path / "plan.json").write_bytes(first.files["plan.json"])
    again = tvm_pulp.compile(model, target="c", soc="mempool", plan=tmp_path / "plan.json")
    assert again.files == first.files and any(layer.team for layer in again.plan.record.layers)


@pytest.mark.parametrize("options, beside", [({"effort": "fast"}, True), ({"effort": "rough"}, False)])
def test_how_long_is_searched(tmp_path: Path, options: dict[str, str], beside: bool) -> None:
    """Rules find it too; one rule alone, and the greedy planner, run layer after layer."""
    model = write_branches(tmp_path / "four.onnx", 4, 1)
    record = tvm_pulp.compile(model, target="c", soc="mempool", **options).plan.record
    assert any(layer.team for layer in record.layers) == beside


def test_few_cores_stay_together(tmp_path: Path) -> None:
    """Sixteen cores have enough to do with one layer; other machines have no teams."""
    model = write_branches(tmp_path / "four.onnx", 4, 1)
    for machine in ("minpool", "siracusa"):
        assert not any(layer.team for layer in plan_of(model, machine).layers)


@pytest.mark.slow
@pytest.mark.parametrize("machine, most", [("mempool", 0.75), ("itapool", 0.85)])
@pytest.mark.parametrize("branches, depth", [(4, 1), (3, 2), (2, 3), (5, 1)])
def test_branches_side_by_side_take_fewer_cycles(
    tmp_path: Path, machine: str, most: float, branches: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bits of the host, never slower, and much faster with four branches."""
    model = write_branches(tmp_path / "branches.onnx", branches, depth)
    app = tvm_pulp.compile(model, target="c", soc=machine)
    run, expected = simulate(app), tvm_pulp.compile(model, target="c", soc="host").run()
    for result, wanted in zip(run.outputs, expected.outputs.values(), strict=True):
        np.testing.assert_array_equal(result, wanted)
    monkeypatch.setattr(apply_moves, "MOVES", tuple(move for move in MOVES if move is not TEAM))
    alone = simulate(tvm_pulp.compile(model, target="c", soc=machine)).report["cycles"]
    assert run.report["cycles"] <= (most if branches == 4 else 1.0) * alone
