"""The plan verifier: reads only the described plan and the SoC, and knows nothing of how the plan was made.

It executes the program on paper: which content every byte of L1 and L2 holds, which transfers, jobs and kernels may
still be under way, what each core knows. It returns a list of sentences, one per fault; an empty list is a clean plan.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from tvm_pulp.tiling.verify_contents import Contents
from tvm_pulp.tiling.verify_races import Races

L1_ALIGNMENT = 4
_MOST_FAULTS = 50

Record = dict[str, Any]


def verify(plan: Record, soc: Any) -> list[str]:
    """All faults of a plan."""
    faults = _check_l2(plan["l2"]) + _check_capacity(plan, soc)
    faults += _check_blocks(plan["blocks"], plan["l1_bytes"])
    for layer in plan["layers"]:
        faults += _check_cover(layer)
    contents, races = Contents(plan), Races(plan)
    for number, step in enumerate(plan["program"]):
        where = _where(plan, number, step)
        faults += races.synchronise(where, step)
        faults += contents.step(where, step)
        faults += races.step(where, step)
        if len(faults) > _MOST_FAULTS:
            return faults
    return faults + races.end() + contents.end()


def _where(plan: Record, number: int, step: Record) -> str:
    layers = sorted({plan["layers"][a["layer"]]["name"] for a in step["actions"] if "layer" in a})
    return f"step {number} ({', '.join(layers) or 'no layer'})"


def _check_capacity(plan: Record, soc: Any) -> list[str]:
    faults = []
    weight = {"weight_sram": 0, "weight_mram": 0}
    for constant in plan["constants"]:
        if constant["level"] in weight:
            weight[constant["level"]] += constant["bytes"]
    for level, used in weight.items():
        if used > soc.memory.weight.size // 2:
            faults.append(f"{level} holds {used} bytes, more than its {soc.memory.weight.size // 2}")
    if plan["l1_bytes"] > soc.memory.l1.size:
        faults.append(f"the L1 budget {plan['l1_bytes']} exceeds the memory's {soc.memory.l1.size} bytes")
    return faults


def _check_l2(level: Record) -> list[str]:
    faults = []
    for a, b in combinations(level["tensors"], 2):
        together = a["alive"][0] <= b["alive"][1] and b["alive"][0] <= a["alive"][1]
        if together and a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]:
            faults.append(f"L2 tensors {a['name']} and {b['name']} overlap while both are alive")
    for t in level["tensors"]:
        if t["offset"] < 0 or t["offset"] + t["bytes"] > level["size"]:
            faults.append(f"L2 tensor {t['name']} lies outside the arena")
    return faults


def _check_blocks(blocks: list[Record], budget: int) -> list[str]:
    faults = []
    for b in blocks:
        if b["offset"] % L1_ALIGNMENT:
            faults.append(f"L1 block {b['name']} is not aligned to {L1_ALIGNMENT} bytes")
        if b["offset"] < 0 or b["offset"] + b["bytes"] > budget:
            faults.append(f"L1 block {b['name']} ends at {b['offset'] + b['bytes']}, beyond the budget {budget}")
    ordered = sorted(blocks, key=lambda b: b["alive"][0])
    for number, a in enumerate(ordered):
        for b in ordered[number + 1 :]:
            if b["alive"][0] > a["alive"][1]:
                break
            if a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]:
                faults.append(f"L1 blocks {a['name']} and {b['name']} overlap while both are alive")
    return faults


def _check_cover(layer: Record) -> list[str]:
    """The tiles of a layer make every element of its first output exactly once."""
    shape = layer["outputs"][0]["shape"]
    boxes = [(t["start"], t["size"]) for t in layer["tiles"]]
    faults = []
    for start, size in boxes:
        if any(a < 0 or n < 0 or a + n > d for a, n, d in zip(start, size, shape, strict=True)):
            faults.append(f"layer {layer['name']}: a tile leaves the output")
    for (s1, n1), (s2, n2) in combinations(boxes, 2) if len(boxes) < 400 else ():
        if all(a < b + m and b < a + n for a, n, b, m in zip(s1, n1, s2, n2, strict=True)):
            faults.append(f"layer {layer['name']}: two tiles make the same part of the output")
    made, total = sum(_volume(size) for _, size in boxes), _volume(shape)
    if made != total:
        faults.append(f"layer {layer['name']}: tiles make {made} of {total} elements")
    return faults


def _volume(size: list[int]) -> int:
    total = 1
    for n in size:
        total *= n
    return total
