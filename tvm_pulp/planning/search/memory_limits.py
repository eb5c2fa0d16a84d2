"""What memories beyond L1 hold: whether a plan fits them, and what has to leave a full weight memory."""

from __future__ import annotations

from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.soc.platform import Platform


def layers_to_move(plan: Plan, soc: Any, level: str) -> dict[str, int]:
    """Layers, with the bytes of their weights, that leave a weight memory for the rest: as few as possible."""
    missing = plan.constants_in(level) - soc.software.weight_parts[level]
    return _largest_needed(plan, level, missing) if missing > 0 else {}


def spread_weights(plan: Plan, soc: Any) -> None:
    """Weights that one part of the weight memory has no room for go to the other parts, the last used first."""
    parts = soc.software.weight_parts
    free = {level: size - plan.constants_in(level) for level, size in parts.items()}
    for tensor in reversed(plan.constants()):
        if free.get(tensor.level, 0) >= 0:
            continue
        for level, room in free.items():
            if room >= tensor.spec.bytes:
                free[tensor.level] += tensor.spec.bytes
                free[level] -= tensor.spec.bytes
                tensor.level = level
                break


def check_capacity(plan: Plan, soc: Any, l2_bytes: int, l2_available: int) -> None:
    """Raise where L2 or a weight memory is too small, with what would help. `l2_available`: without a user's limit."""
    used = {"l2": plan.arena.size, **dict.fromkeys(Platform(soc).constant_levels(), 0)}
    largest: dict[str, Any] = {}
    used["l2"] += plan.table_bytes()
    for tensor in plan.constants():
        used[tensor.level] += tensor.spec.bytes
        if tensor.level not in largest or tensor.spec.bytes > largest[tensor.level].spec.bytes:
            largest[tensor.level] = tensor
    used["l2"] += plan.outside_bytes()
    used["l3"] += plan.network.state_bytes("l3")
    if used["l2"] > l2_bytes:
        way_out = "use smaller inputs or fewer channels"
        if used["l2"] <= l2_available:
            way_out = f"raise --l2 to at least {used['l2']}"
        raise UserError(
            f"the network needs {used['l2']} bytes of L2 and {l2_bytes} are available beside the code "
            f"({used['l2'] - l2_bytes} missing; activations and what comes from L3 take {plan.arena.size}, largest "
            f"constant that stays '{largest['l2'].name if 'l2' in largest else '-'}'): {way_out}"
        )
    if used["l3"] > soc.memory.l3.size and "l3" not in largest:
        raise UserError(
            f"the caches need {used['l3']} bytes of L3 and SoC {soc.name} has {soc.memory.l3.size}: keep fewer tokens"
        )
    if used["l3"] > soc.memory.l3.size:
        raise UserError(
            f"the network's constants need {used['l3']} bytes of L3 and SoC {soc.name} has {soc.memory.l3.size} "
            f"(largest '{largest['l3'].name}' with {largest['l3'].spec.bytes}): use fewer channels, layers or bits per "
            "weight"
        )
    for level, size in soc.software.weight_parts.items():
        if used[level] > size:
            moved = layers_to_move(plan, soc, level)
            pins = " ".join(f"--pin {name}=cluster" for name in moved)
            raise UserError(
                f"the packed weights need {used[level]} bytes and the {level.removeprefix('weight_')} weight "
                f"memory has {size} ({used[level] - size} missing): keep some of them in L2 for the cores with "
                f"{pins}, which frees {sum(moved.values())} bytes, or shrink the network"
            )


def _largest_needed(plan: Plan, level: str, missing: int) -> dict[str, int]:
    """One layer with enough bytes at a level, the smallest of them, or the largest layers that have enough together."""
    sizes: dict[str, int] = {}
    for layer in plan.layers:
        derived = getattr(layer.tiling.form, "derived", None)
        if derived is not None:
            sizes[layer.layer.name] = sum(t.spec.bytes for t in derived.tensors.values() if t.level == level)
    ordered = sorted(sizes.items(), key=lambda entry: entry[1])
    enough = dict([entry for entry in ordered if entry[1] >= missing][:1])
    for name, size in reversed(ordered):
        if sum(enough.values()) < missing:
            enough[name] = size
    return enough
