"""The plan verifier: reads only the described plan and the SoC, and knows nothing of how the plan was made.

It returns a list of sentences, one per fault; an empty list is a clean plan.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

L1_ALIGNMENT = 4


def verify(plan: dict[str, Any], soc: Any) -> list[str]:
    """All faults of a plan."""
    faults = _check_l2(plan["l2"])
    weight = {"weight_sram": 0, "weight_mram": 0}
    for constant in plan["constants"]:
        if constant["level"] in weight:
            weight[constant["level"]] += constant["bytes"]
    for level, used in weight.items():
        if used > soc.memory.weight.size // 2:
            faults.append(f"{level} holds {used} bytes, more than its {soc.memory.weight.size // 2}")
    if plan["l1_bytes"] > soc.memory.l1.size:
        faults.append(f"the L1 budget {plan['l1_bytes']} exceeds the memory's {soc.memory.l1.size} bytes")
    for layer in plan["layers"]:
        for number, tile in enumerate(layer["tiles"]):
            where = f"layer {layer['name']}, tile {number}"
            faults += _check_buffers(where, tile["buffers"], plan["l1_bytes"])
            faults += _check_order(where, tile)
        faults += _check_cover(layer)
    return faults


def _check_l2(level: dict[str, Any]) -> list[str]:
    faults = []
    for a, b in combinations(level["tensors"], 2):
        together = a["alive"][0] <= b["alive"][1] and b["alive"][0] <= a["alive"][1]
        if together and a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]:
            faults.append(f"L2 tensors {a['name']} and {b['name']} overlap while both are alive")
    for t in level["tensors"]:
        if t["offset"] < 0 or t["offset"] + t["bytes"] > level["size"]:
            faults.append(f"L2 tensor {t['name']} lies outside the arena")
    return faults


def _check_buffers(where: str, buffers: list[dict[str, Any]], budget: int) -> list[str]:
    faults = []
    for b in buffers:
        if b["offset"] % L1_ALIGNMENT:
            faults.append(f"{where}: buffer {b['name']} is not aligned to {L1_ALIGNMENT} bytes")
        if b["offset"] < 0 or b["offset"] + b["bytes"] > budget:
            faults.append(f"{where}: buffer {b['name']} ends at {b['offset'] + b['bytes']}, beyond the budget {budget}")
    for a, b in combinations(buffers, 2):
        if a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]:
            faults.append(f"{where}: buffers {a['name']} and {b['name']} overlap")
    return faults


def _check_order(where: str, tile: dict[str, Any]) -> list[str]:
    """Nothing is read before it was written, and stores come after what they store."""
    known = {b["name"] for b in tile["buffers"]}
    filled: set[str] = set()
    faults = []
    for step in tile["steps"]:
        for name in step.get("reads", []):
            if name.startswith("tensor:"):
                continue
            if name not in known:
                faults.append(f"{where}: {step['do']} reads {name}, which has no place")
            elif name not in filled:
                faults.append(f"{where}: {step['do']} reads {name} before anything wrote it")
        for name in step.get("writes", []):
            if not name.startswith("tensor:") and name not in known:
                faults.append(f"{where}: {step['do']} writes {name}, which has no place")
            filled.add(name)
    return faults


def _check_cover(layer: dict[str, Any]) -> list[str]:
    """The stores of a layer write every output element exactly once."""
    faults = []
    for output in layer["outputs"]:
        boxes = [
            (s["start"], s["size"])
            for tile in layer["tiles"]
            for s in tile["steps"]
            if s["do"] == "store" and s["tensor"] == output["name"]
        ]
        direct = any(f"tensor:{output['name']}" in s.get("writes", []) for t in layer["tiles"] for s in t["steps"])
        if direct:
            continue
        shape = output["shape"]
        for start, size in boxes:
            if any(a < 0 or n < 1 or a + n > d for a, n, d in zip(start, size, shape, strict=True)):
                faults.append(f"layer {layer['name']}: a store leaves the output {output['name']}")
        for (s1, n1), (s2, n2) in combinations(boxes, 2):
            if all(a < b + m and b < a + n for a, n, b, m in zip(s1, n1, s2, n2, strict=True)):
                faults.append(f"layer {layer['name']}: two tiles write the same part of {output['name']}")
        total = 1
        for d in shape:
            total *= d
        written = sum(_volume(size) for _, size in boxes)
        if written != total:
            faults.append(f"layer {layer['name']}: tiles write {written} of {total} elements of {output['name']}")
    return faults


def _volume(size: list[int]) -> int:
    total = 1
    for n in size:
        total *= n
    return total
