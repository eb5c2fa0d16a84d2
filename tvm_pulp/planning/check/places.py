"""Part of the verifier: buffers of each level lie inside it, apart from each other, and hold all that steps touch."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.planning.program.actions import Access, JobAction, KernelAction, Step, read_by
from tvm_pulp.planning.program.plan_record import LayerJson, PlaceJson, PlanJson
from tvm_pulp.soc.platform import Platform

ALIGNMENT = 4
# Positions whose owners are looked up together.
_BUCKET = 16


def check_capacity(plan: PlanJson, soc: Any, beyond_l2: int) -> list[str]:
    """Every level holds what the plan puts there; so many bytes of L2 move elsewhere afterwards."""
    faults = []
    if plan.l1_bytes > soc.memory.l1.size:
        faults.append(f"the L1 budget {plan.l1_bytes} exceeds the memory's {soc.memory.l1.size} bytes")
    room, kept = Platform(soc).constant_levels(), (*plan.constants, *plan.state)
    used = {level: sum(k.bytes for k in kept if k.level == level) for level in room}
    taken = plan.l1_bytes + sum(s.bytes for s in plan.state if s.level == "l1")
    if taken > soc.memory.l1.size:
        faults.append(f"tiles and state take {taken} bytes of L1, more than its {soc.memory.l1.size}")
    used["L2"] = _l2_bytes(plan)
    room["L2"] = soc.memory.l2.size - soc.memory.l2.private_bytes + beyond_l2
    full = ((level, size) for level, size in used.items() if size > room[level])
    return faults + [f"{level} holds {size} bytes, more than its {room[level]}" for level, size in full]


def _l2_bytes(plan: PlanJson) -> int:
    """The arena, bundles, and what transfers reach by name: constants, inputs and outputs of the network."""
    reached: dict[str, int] = {}
    outside = {"L1", "L2", "L3", *(c.name for c in plan.constants if c.level.startswith("weight"))}
    outside |= {s.name for s in plan.state if s.level != "l2"}
    for step in plan.program:
        for action in step.actions:
            for access in (*read_by(action), *action.writes):
                if access.space not in outside:
                    reached[access.space] = max(reached.get(access.space, 0), access.whole.end)
    return int(plan.l2.size + sum(b.bytes for b in plan.bundles) + sum(reached.values()))


def check_places(what: str, places: Sequence[PlaceJson], size: int, outside: str) -> list[str]:
    """Places of a memory lie inside it, and do not overlap while both are alive."""
    faults = []
    for place in places:
        if place.offset % ALIGNMENT:
            faults.append(f"{what} {place.name} is not aligned to {ALIGNMENT} bytes")
        if place.offset < 0 or place.offset + place.bytes > size:
            faults.append(f"{what} {place.name} {outside}")
    ordered = sorted(places, key=lambda place: place.alive[0])
    for number, a in enumerate(ordered):
        for b in ordered[number + 1 :]:
            if b.alive[0] > a.alive[1]:
                break
            if a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes:
                faults.append(f"{what}s {a.name} and {b.name} overlap while both are alive")
    return faults


class Inside:
    """Every access of a step to L1 and L2 belongs to a block or tensor that is alive then."""

    def __init__(self, plan: PlanJson) -> None:
        self._owners: dict[str, dict[int, list[PlaceJson]]] = {"L1": {}, "L2": {}}
        for space, owners in (("L1", plan.blocks), ("L2", plan.l2.tensors)):
            for owner in owners:
                for bucket in range(owner.alive[0] // _BUCKET, owner.alive[1] // _BUCKET + 1):
                    self._owners[space].setdefault(bucket, []).append(owner)

    def step(self, where: str, step: Step) -> list[str]:
        if step.position is None:
            return []
        position, faults = max(0, step.position), []
        for action in step.actions:
            for access in (*read_by(action), *action.writes):
                if access.space in self._owners and access.bytes and not self._owned(access, position):
                    place = f"{access.space} bytes {access.start} to {access.whole.end}"
                    faults.append(f"{where}: {action.do} touches {place}, which belong to nothing that is alive")
                if isinstance(action, KernelAction | JobAction) and access.space == "L1" and access.start % ALIGNMENT:
                    faults.append(f"{where}: an operand at L1 byte {access.start} is not aligned to {ALIGNMENT} bytes")
        return faults

    def _owned(self, access: Access, position: int) -> bool:
        end = access.whole.end
        return any(
            o.alive[0] <= position <= o.alive[1] and o.offset <= access.start and end <= o.offset + o.bytes
            for o in self._owners[access.space].get(position // _BUCKET, ())
        )


def check_cover(layer: LayerJson) -> list[str]:
    """The tiles of a layer make every element of its first output exactly once."""
    shape, name = layer.outputs[0].shape, layer.name
    made = np.zeros(shape, np.int32)
    for tile in layer.tiles:
        if any(a < 0 or n < 0 or a + n > d for a, n, d in zip(tile.start, tile.size, shape, strict=True)):
            return [f"layer {name}: a tile leaves the output"]
        made[tuple(slice(a, a + n) for a, n in zip(tile.start, tile.size, strict=True))] += 1
    faults = []
    if made.max(initial=0) > 1:
        faults.append(f"layer {name}: two tiles make the same part of the output")
    if made.min(initial=1) < 1:
        faults.append(f"layer {name}: tiles make {np.count_nonzero(made)} of {made.size} elements")
    return faults


def check_executed(plan: PlanJson) -> list[str]:
    """Every tile of every layer is computed."""
    done = {(a.layer, a.tile) for s in plan.program for a in s.actions if isinstance(a, KernelAction | JobAction)}
    return [
        f"layer {layer.name}: tile {tile} is never computed"
        for index, layer in enumerate(plan.layers)
        for tile in range(len(layer.tiles))
        if (index, tile) not in done
    ]
