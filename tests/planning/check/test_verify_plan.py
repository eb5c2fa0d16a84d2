"""The verifier accepts real plans and finds every kind of planted fault."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.planning.search.real_plans import Plan, faults_of, plan_of
from tvm_pulp import soc
from tvm_pulp.codegen.formats import PlanJson, from_json
from tvm_pulp.planning.check import verify_plan

SIRACUSA = soc.load("siracusa")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of("resnet8")


def tiled(plan: Plan) -> dict[str, Any]:
    """A layer of several tiles."""
    return next(layer for layer in plan["layers"] if len(layer["tiles"]) > 2)


def actions(plan: Plan, kind: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Steps and their actions of one kind, the boot step not among them."""
    return [(s, a) for s in plan["program"] if s["position"] != -1 for a in s["actions"] if a["do"] == kind]


def test_a_real_plan_is_clean(plan: Plan) -> None:
    assert faults_of(plan) == []
    assert {layer["engine"] for layer in plan["layers"]} == {"neureka", "cluster"}
    assert all(actions(plan, kind) for kind in ("load", "store", "kernel", "job"))


def test_constants_that_move_elsewhere_may_exceed_l2(plan: Plan) -> None:
    l2 = SIRACUSA.memory.l2
    memory = SIRACUSA.memory.model_copy(update={"l2": l2.model_copy(update={"size": l2.private_bytes + 64 * 1024})})
    small = SIRACUSA.model_copy(update={"memory": memory})
    record = from_json(PlanJson, json.dumps(plan))
    (fault,) = verify_plan(record, small)
    missing = re.fullmatch(r"L2 holds (\d+) bytes, more than its 65536", fault)
    assert missing is not None
    beyond = int(missing[1]) - 64 * 1024
    assert verify_plan(record, small, beyond) == []
    assert verify_plan(record, small, beyond - 1) == [fault.replace("65536", f"{int(missing[1]) - 1}")]


def overlap_l2(plan: Plan) -> None:
    a, b = plan["l2"]["tensors"][:2]
    a["alive"] = b["alive"] = [0, 1]
    a["offset"] = b["offset"]


def leave_the_arena(plan: Plan) -> None:
    plan["l2"]["tensors"][0]["offset"] = plan["l2"]["size"]


def overlap_l1(plan: Plan) -> None:
    a, b = plan["blocks"][:2]
    a["alive"] = b["alive"]
    a["offset"] = b["offset"]


def exceed_l1(plan: Plan) -> None:
    plan["blocks"][0]["offset"] = plan["l1_bytes"] - 4


def misalign(plan: Plan) -> None:
    plan["blocks"][0]["offset"] += 2


def exceed_the_memory(plan: Plan) -> None:
    plan["l1_bytes"] = SIRACUSA.memory.l1.size + 1


def fill_weight_memory(plan: Plan) -> None:
    next(c for c in plan["constants"] if c["level"] == "weight_sram")["bytes"] = 1 << 23


def drop_a_tile(plan: Plan) -> None:
    del tiled(plan)["tiles"][0]


def make_a_part_twice(plan: Plan) -> None:
    tiles = tiled(plan)["tiles"]
    tiles[1]["start"] = tiles[0]["start"]


def leave_the_output(plan: Plan) -> None:
    tiled(plan)["tiles"][0]["start"][-1] += 1000


def drop_a_load(plan: Plan) -> None:
    step, action = actions(plan, "load")[2]
    step["actions"].remove(action)


def load_elsewhere(plan: Plan) -> None:
    actions(plan, "load")[2][1]["writes"][0]["start"] += 64


def load_the_wrong_part(plan: Plan) -> None:
    arena = [a for _, a in actions(plan, "load") if a["reads"] and a["reads"][0]["space"] == "L2"]
    arena[0]["reads"][0]["from"] += 4


def drop_the_last_store(plan: Plan) -> None:
    step, action = actions(plan, "store")[-1]
    step["actions"].remove(action)


def drop_the_waits(plan: Plan) -> None:
    for step in plan["program"]:
        step["waits"] = []


def drop_the_barriers(plan: Plan) -> None:
    for step in plan["program"]:
        step["barrier"] = False


def drop_one_wait(plan: Plan) -> None:
    next(s for s in plan["program"] if s["waits"] and any(a["do"] == "kernel" for a in s["actions"]))["waits"] = []


def wait_for_nothing(plan: Plan) -> None:
    plan["program"][2]["waits"].append({"agent": 2, "group": 5})


def use_a_counter_twice(plan: Plan) -> None:
    for step in plan["program"]:
        for action in step["actions"]:
            if action["do"] == "begin":
                action["group"] = 0


FAULTS: list[tuple[Callable[[Plan], None], str]] = [
    (overlap_l2, "overlap while both are alive"),
    (leave_the_arena, "lies outside the arena"),
    (overlap_l1, "L1 blocks .* overlap while both are alive"),
    (exceed_l1, "beyond the budget"),
    (misalign, "is not aligned to 4 bytes"),
    (exceed_the_memory, "exceeds the memory's"),
    (fill_weight_memory, "weight_sram holds .* more than its"),
    (drop_a_tile, "tiles make .* of .* elements"),
    (make_a_part_twice, "two tiles make the same part"),
    (leave_the_output, "a tile leaves the output"),
    (drop_a_load, "expects .* and finds"),
    (load_elsewhere, "expects .* and finds"),
    (load_the_wrong_part, "expects .* and finds"),
    (drop_the_last_store, "expects .* and finds|is never written"),
    (drop_the_waits, "while a (transfer|job) may use it"),
    (drop_the_barriers, "while a kernel may use it"),
    (drop_one_wait, "while a (transfer|job) may use it"),
    (wait_for_nothing, "a wait for .* which is not under way"),
    (use_a_counter_twice, "is still under way"),
]


@pytest.mark.parametrize(("plant", "message"), FAULTS, ids=[f.__name__ for f, _ in FAULTS])
def test_planted_fault_is_found(plan: Plan, plant: Callable[[Plan], None], message: str) -> None:
    damaged = copy.deepcopy(plan)
    plant(damaged)
    faults = faults_of(damaged)
    assert any(re.search(message, fault) for fault in faults), faults[:3]
