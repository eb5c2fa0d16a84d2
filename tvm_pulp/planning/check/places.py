"""Part of the verifier: buffers of each level lie inside it, apart from each other, and hold all that steps touch."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from tvm_pulp.planning.program.actions import Access, Job, Kernel, Step, read_by, written_by
from tvm_pulp.planning.program.plan_record import L2, Layer, Place, PlanJson
from tvm_pulp.soc.platform import Platform

L1_ALIGNMENT = 4
L2_ALIGNMENT = 4
# Positions whose owners are looked up together.
_BUCKET = 16


def check_capacity(plan: PlanJson, soc: Any) -> list[str]:
    """Every level holds what the plan puts there."""
    faults = []
    if plan.l1_bytes > soc.memory.l1.size:
        faults.append(f"the L1 budget {plan.l1_bytes} exceeds the memory's {soc.memory.l1.size} bytes")
    room = Platform(soc).constant_levels()
    used = dict.fromkeys(room, 0)
    for kept in (*plan.constants, *plan.state):
        if kept.level in used:
            used[kept.level] += kept.bytes
    taken = plan.l1_bytes + sum(s.bytes for s in plan.state if s.level == "l1")
    if taken > soc.memory.l1.size:
        faults.append(f"tiles and state take {taken} bytes of L1, more than its {soc.memory.l1.size}")
    used["L2"] = _l2_bytes(plan)
    room["L2"] = soc.memory.l2.size - soc.memory.l2.private_bytes
    for level, size in used.items():
        if size > room[level]:
            faults.append(f"{level} holds {size} bytes, more than its {room[level]}")
    return faults


def _l2_bytes(plan: PlanJson) -> int:
    """The arena, bundles, and what transfers reach by name: constants, inputs and outputs of the network."""
    reached: dict[str, int] = {}
    outside = {"L1", "L2", "L3", *(c.name for c in plan.constants if c.level.startswith("weight"))}
    outside |= {s.name for s in plan.state if s.level != "l2"}
    for step in plan.program:
        for action in step.actions:
            for access in (*read_by(action), *written_by(action)):
                if access.space not in outside:
                    reached[access.space] = max(reached.get(access.space, 0), extent(access)[1])
    return int(plan.l2.size + sum(b.bytes for b in plan.bundles) + sum(reached.values()))


def extent(access: Access) -> tuple[int, int]:
    """First byte of an access and the one behind its last."""
    size = max(access.bytes, access.reach or 0)
    if access.line is not None and access.stride is not None:
        size = (access.bytes // access.line - 1) * access.stride + access.line
    return access.start, access.start + size


def check_l2(level: L2) -> list[str]:
    """Tensors of the arena do not overlap while both are alive."""
    faults = []
    for a, b in combinations(level.tensors, 2):
        together = a.alive[0] <= b.alive[1] and b.alive[0] <= a.alive[1]
        if together and a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes:
            faults.append(f"L2 tensors {a.name} and {b.name} overlap while both are alive")
    for t in level.tensors:
        if t.offset % L2_ALIGNMENT:
            faults.append(f"L2 tensor {t.name} is not aligned to {L2_ALIGNMENT} bytes")
        if t.offset < 0 or t.offset + t.bytes > level.size:
            faults.append(f"L2 tensor {t.name} lies outside the arena")
    return faults


def check_blocks(blocks: Sequence[Place], budget: int) -> list[str]:
    """Blocks of L1 do not overlap while both are alive."""
    faults = []
    for b in blocks:
        if b.offset % L1_ALIGNMENT:
            faults.append(f"L1 block {b.name} is not aligned to {L1_ALIGNMENT} bytes")
        if b.offset < 0 or b.offset + b.bytes > budget:
            faults.append(f"L1 block {b.name} ends at {b.offset + b.bytes}, beyond the budget {budget}")
    ordered = sorted(blocks, key=lambda b: b.alive[0])
    for number, a in enumerate(ordered):
        for b in ordered[number + 1 :]:
            if b.alive[0] > a.alive[1]:
                break
            if a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes:
                faults.append(f"L1 blocks {a.name} and {b.name} overlap while both are alive")
    return faults


class Inside:
    """Every access of a step to L1 and L2 belongs to a block or tensor that is alive then."""

    def __init__(self, plan: PlanJson) -> None:
        self._owners: dict[str, dict[int, list[Place]]] = {"L1": {}, "L2": {}}
        for space, owners in (("L1", plan.blocks), ("L2", plan.l2.tensors)):
            for owner in owners:
                for bucket in range(owner.alive[0] // _BUCKET, owner.alive[1] // _BUCKET + 1):
                    self._owners[space].setdefault(bucket, []).append(owner)

    def step(self, where: str, step: Step) -> list[str]:
        if step.position is None:
            return []
        position, faults = max(0, step.position), []
        for action in step.actions:
            for access in (*read_by(action), *written_by(action)):
                if access.space in self._owners and access.bytes and not self._owned(access, position):
                    start, end = extent(access)
                    place = f"{access.space} bytes {start} to {end}"
                    faults.append(f"{where}: {action.do} touches {place}, which belong to nothing that is alive")
                if isinstance(action, Kernel | Job) and access.space == "L1" and access.start % L1_ALIGNMENT:
                    faults.append(
                        f"{where}: an operand at L1 byte {access.start} is not aligned to {L1_ALIGNMENT} bytes"
                    )
        return faults

    def _owned(self, access: Access, position: int) -> bool:
        start, end = extent(access)
        return any(
            o.alive[0] <= position <= o.alive[1] and o.offset <= start and end <= o.offset + o.bytes
            for o in self._owners[access.space].get(position // _BUCKET, ())
        )


def check_cover(layer: Layer) -> list[str]:
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
    done = {(a.layer, a.tile) for s in plan.program for a in s.actions if isinstance(a, Kernel | Job)}
    return [
        f"layer {layer.name}: tile {tile} is never computed"
        for index, layer in enumerate(plan.layers)
        for tile in range(len(layer.tiles))
        if (index, tile) not in done
    ]
