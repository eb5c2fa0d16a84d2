"""A fault of any kind, planted at random into real plans of several networks, is found by the verifier."""

import copy
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.planning.search.real_plans import PLANS, faults_of, plan_of
from tvm_pulp import soc

SIRACUSA = soc.load("siracusa")
Plan = dict[str, Any]
Plant = Callable[[Plan, random.Random], bool]

TRIES = 4


def actions(plan: Plan, *kinds: str) -> list[tuple[Plan, Plan]]:
    """Steps with their actions of some kinds."""
    return [(s, a) for s in plan["program"] for a in s["actions"] if a["do"] in kinds]


def chosen(source: random.Random, found: list[Any]) -> Any:
    return source.choice(found) if found else None


# --- places ----------------------------------------------------------------------------------------------------


def move_a_block(plan: Plan, source: random.Random) -> bool:
    block = source.choice([b for b in plan["blocks"] if b["bytes"]])
    block["offset"] += 16 * source.choice([-3, -1, 1, 2])
    return True


def enlarge_a_block(plan: Plan, source: random.Random) -> bool:
    block = source.choice(plan["blocks"])
    block["bytes"] = plan["l1_bytes"] - block["offset"] + source.randint(1, 64)
    return True


def shrink_a_block(plan: Plan, source: random.Random) -> bool:
    block = source.choice([b for b in plan["blocks"] if b["bytes"] >= 8])
    block["bytes"] //= 2
    return True


def end_a_block_early(plan: Plan, source: random.Random) -> bool:
    used = [b for b in plan["blocks"] if b["bytes"] and b["alive"][0] < b["alive"][1]]
    block = source.choice([b for b in used if not b["name"].startswith("bundle")])
    block["alive"][1] = block["alive"][0]
    return True


def misalign_a_block(plan: Plan, source: random.Random) -> bool:
    source.choice(plan["blocks"])["offset"] += source.choice([1, 2, 3])
    return True


def misalign_an_operand(plan: Plan, source: random.Random) -> bool:
    _, action = source.choice(actions(plan, "kernel", "job"))
    source.choice([a for a in (*action["reads"], *action["writes"]) if a["space"] == "L1"])["start"] += 2
    return True


def move_a_tensor(plan: Plan, source: random.Random) -> bool:
    tensor = chosen(source, plan["l2"]["tensors"])
    if tensor is not None:
        tensor["offset"] += 16
    return tensor is not None


def end_a_tensor_early(plan: Plan, source: random.Random) -> bool:
    tensor = chosen(source, [t for t in plan["l2"]["tensors"] if t["alive"][0] < t["alive"][1]])
    if tensor is not None:
        tensor["alive"][1] = tensor["alive"][0]
    return tensor is not None


def shrink_l1(plan: Plan, _source: random.Random) -> bool:
    plan["l1_bytes"] = plan["l1_peak"] - 4
    return True


def fill_l3(plan: Plan, source: random.Random) -> bool:
    source.choice(plan["constants"]).update(level="l3", bytes=SIRACUSA.memory.l3.size + 1)
    return True


def fill_l2(plan: Plan, source: random.Random) -> bool:
    source.choice(plan["bundles"])["bytes"] += SIRACUSA.memory.l2.size
    return True


# --- tiles -----------------------------------------------------------------------------------------------------


def drop_a_tile(plan: Plan, source: random.Random) -> bool:
    tiles = source.choice(plan["layers"])["tiles"]
    tiles.pop(source.randrange(len(tiles)))
    return True


def duplicate_a_tile(plan: Plan, source: random.Random) -> bool:
    tiles = source.choice(plan["layers"])["tiles"]
    tiles.append(copy.deepcopy(source.choice(tiles)))
    return True


def shift_a_tile(plan: Plan, source: random.Random) -> bool:
    tile = source.choice(source.choice(plan["layers"])["tiles"])
    tile["start"][source.randrange(len(tile["start"]))] += source.choice([-1, 1])
    return True


def leave_a_tile_out(plan: Plan, source: random.Random) -> bool:
    step, action = source.choice(actions(plan, "kernel", "job"))
    step["actions"].remove(action)
    return True


# --- transfers -------------------------------------------------------------------------------------------------


def drop_a_transfer(plan: Plan, source: random.Random) -> bool:
    step, action = source.choice(actions(plan, "load", "store"))
    step["actions"].remove(action)
    return True


def shift_a_transfer(plan: Plan, source: random.Random) -> bool:
    _, action = source.choice(actions(plan, "load", "store"))
    source.choice([*action["reads"], *action["writes"]])["start"] += source.choice([4, 16, -4])
    return True


def shorten_a_transfer(plan: Plan, source: random.Random) -> bool:
    """One word less; lines would be a line less."""
    moves = [a for _, a in actions(plan, "load", "store") if not any("line" in x for x in (*a["reads"], *a["writes"]))]
    action = chosen(source, [a for a in moves if all(x["bytes"] > 4 for x in (*a["reads"], *a["writes"]))])
    for access in (*action["reads"], *action["writes"]):
        access["bytes"] -= 4
    return True


def load_later(plan: Plan, source: random.Random) -> bool:
    """A load moves to the end of the network."""
    steps = plan["program"]
    found = [
        (i, a)
        for i, s in enumerate(steps[:-1])
        for a in s["actions"]
        if a["do"] == "load"
        and i + 1 < len(steps)
        and any(x["do"] in ("kernel", "job") for x in steps[i + 1]["actions"])
    ]
    number, action = source.choice(found)
    steps[number]["actions"].remove(action)
    steps[-2]["actions"].append(action)
    return True


def read_before_fetch(plan: Plan, source: random.Random) -> bool:
    found = chosen(source, actions(plan, "fetch"))
    if found is not None:
        step, action = found
        step["actions"].remove(action)
        plan["program"][-2]["actions"].append(action)
    return found is not None


def fetch_elsewhere(plan: Plan, source: random.Random) -> bool:
    found = chosen(source, actions(plan, "fetch"))
    if found is not None:
        found[1]["writes"][0]["start"] += 64
    return found is not None


# --- synchronisation -------------------------------------------------------------------------------------------


def drop_a_wait(plan: Plan, source: random.Random) -> bool:
    step, wait = source.choice([(step, wait) for step in plan["program"] for wait in step["waits"]])
    step["waits"].remove(wait)
    return True


def drop_a_wait_for_another_engine(plan: Plan, source: random.Random) -> bool:
    """A job starts although one of another engine, whose result it may read, was not waited for."""
    found, engines = [], {}
    for step in plan["program"]:
        jobs = [a for a in step["actions"] if a["do"] == "job"]
        waits = [w for w in step["waits"] if "ticket" in w]
        found += [(step, w) for w in waits if jobs and jobs[0]["engine"] != engines[w["ticket"]]]
        engines |= {job["ticket"]: job["engine"] for job in jobs}
    pair = chosen(source, found)
    if pair is not None:
        pair[0]["waits"].remove(pair[1])
    return pair is not None


def drop_a_barrier(plan: Plan, source: random.Random) -> bool:
    source.choice([s for s in plan["program"] if s["barrier"]])["barrier"] = False
    return True


def wait_twice(plan: Plan, source: random.Random) -> bool:
    steps = [s for s in plan["program"] if any("group" in w for w in s["waits"])]
    step = source.choice(steps)
    step["waits"].append(copy.deepcopy(next(w for w in step["waits"] if "group" in w)))
    return True


def wait_late(plan: Plan, source: random.Random) -> bool:
    """The waits and the barrier of a step stand before the next step instead."""
    steps = plan["program"]
    found = [i for i, s in enumerate(steps[:-1]) if s["waits"] and s["barrier"] and s["actions"]]
    number = source.choice([i for i in found if any(a["do"] in ("kernel", "job") for a in steps[i]["actions"])])
    steps[number + 1]["waits"] = steps[number]["waits"] + steps[number + 1]["waits"]
    steps[number + 1]["barrier"] = True
    steps[number]["waits"], steps[number]["barrier"] = [], False
    return True


def use_a_group_that_is_not(plan: Plan, source: random.Random) -> bool:
    source.choice(actions(plan, "begin"))[1]["group"] = 7
    return True


def use_a_ticket_that_is_not(plan: Plan, source: random.Random) -> bool:
    found = chosen(source, actions(plan, "job"))
    if found is not None:
        found[1]["ticket"] = 8
    return found is not None


def reuse_a_ticket_early(plan: Plan, source: random.Random) -> bool:
    """A job that somebody waits for takes the ticket of the one before."""
    last: dict[int, Plan] = {}
    waited, jobs = [], []
    for step in plan["program"]:
        waited += [last[w["ticket"]] for w in step["waits"] if w.get("ticket") in last]
        for action in step["actions"]:
            if action["do"] == "job":
                last[action["ticket"]] = action
                jobs.append(action)
    different = [(a, b) for a, b in pairwise(jobs) if a["ticket"] != b["ticket"]]
    pair = chosen(source, [(a, b) for a, b in different if any(b is w for w in waited)])
    if pair is not None:
        pair[1]["ticket"] = pair[0]["ticket"]
    return pair is not None


PLANTS: list[Plant] = [
    *(move_a_block, enlarge_a_block, shrink_a_block, end_a_block_early, misalign_a_block, misalign_an_operand),
    *(move_a_tensor, end_a_tensor_early, shrink_l1, fill_l3, fill_l2),
    *(drop_a_tile, duplicate_a_tile, shift_a_tile, leave_a_tile_out),
    *(drop_a_transfer, shift_a_transfer, shorten_a_transfer, load_later, read_before_fetch, fetch_elsewhere),
    *(drop_a_wait, drop_a_barrier, wait_twice, wait_late, use_a_group_that_is_not, use_a_ticket_that_is_not),
    *(reuse_a_ticket_early, drop_a_wait_for_another_engine),
]


# That of ResNet-8 takes longest.
@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "resnet8")) for n in PLANS])
def test_the_plan_itself_is_clean(name: str) -> None:
    assert faults_of(plan_of(name)) == []


@pytest.mark.sample(1)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda p: p.__name__)
def test_a_planted_fault_is_found_in_every_plan(plant: Plant) -> None:
    planted = 0
    for name in PLANS:
        for seed in range(TRIES):
            damaged = copy.deepcopy(plan_of(name))
            if plant(damaged, random.Random(f"{name} {seed}")):
                planted += 1
                assert faults_of(damaged), f"{name}, seed {seed}: nothing found"
    assert planted >= TRIES
