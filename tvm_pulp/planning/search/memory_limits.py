"""Limits of memories beyond L1: whether a network and its plan fit them, and what has to leave a full weight memory."""

from collections.abc import Container
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.planning.tiling.forms import CLUSTER
from tvm_pulp.planning.tiling.plan import Plan, layer_constants
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.soc.platform import Platform


def check_smallest_size(network: Network, soc: Any, l2_bytes: int, with_engines: bool) -> None:
    """Raise where the constants alone, however an engine packs them, exceed all memories together.

    Weight memories are for engines: without one they hold nothing.
    """
    levels = {"l2": l2_bytes, **Platform(soc).constant_levels()}
    if not with_engines:
        levels = {name: size for name, size in levels.items() if name not in soc.software.weight_parts}
    room = sum(levels.values())
    constants = network.constants()
    if sum(t.spec.bytes for t in constants) <= room:
        return
    needed = sum(_least_bytes(tensor) for tensor in constants)
    if needed > room:
        largest = max(constants, key=lambda t: t.spec.bytes)
        parts = ", ".join(f"{name} {size}" for name, size in levels.items() if size)
        raise UserError(
            f"the network's constants take at least {needed} bytes and SoC {soc.name} holds {room} ({parts}); the "
            f"largest is '{largest.name}' with {largest.spec.bytes}: use fewer channels, layers or bits per weight"
        )


def check_ends(network: Network, soc: Any, l2_bytes: int, l2_available: int) -> None:
    """Raise where inputs alone, or outputs alone, exceed L2: planning what nothing holds takes minutes."""
    for name, tensors in (("inputs", network.inputs), ("outputs", network.outputs)):
        needed = sum(tensor.spec.bytes for tensor in {tensor.storage: tensor for tensor in tensors}.values())
        way_out = f"raise --l2 to at least {needed}" if needed <= l2_available else "use smaller ones, or fewer at once"
        refuse_if(
            needed > l2_bytes,
            f"the network's {name} take {needed} bytes and SoC {soc.name} has {l2_bytes} of L2 beside the code "
            f"({needed - l2_bytes} missing): {way_out}",
        )


def _least_bytes(tensor: Tensor) -> int:
    """Bytes of the values if every one takes no more bits than the widest."""
    if tensor.data is None or tensor.data.dtype.kind not in "iu" or not tensor.data.size:
        return tensor.spec.bytes
    low, high = int(tensor.data.min()), int(tensor.data.max())
    bits = max((-low - 1).bit_length() if low < 0 else 0, high.bit_length()) + (low < 0)
    return int(np.ceil(tensor.data.size * max(1, bits) / 8))


def layers_to_move(plan: Plan, soc: Any, level: str) -> dict[str, int]:
    """Layers, with the bytes of their weights, that leave a weight memory for the rest: as few as possible.

    One layer with enough bytes, the smallest of them, or the largest layers that have enough together.
    """
    missing = plan.constants_in(level) - soc.software.weight_parts[level]
    there = {tensor: tensor.spec.bytes for tensor, found in plan.constants().items() if found == level}
    taken = {layer.layer.name: sum(there.get(t, 0) for t in layer_constants(layer)) for layer in plan.layers}
    ordered = sorted(((name, size) for name, size in taken.items() if size), key=lambda entry: entry[1])
    enough = dict([entry for entry in ordered if entry[1] >= missing > 0][:1])
    for name, size in reversed(ordered):
        if sum(enough.values()) < missing:
            enough[name] = size
    return enough


def layer_grown(plan: Plan, soc: Any, l2_bytes: int, pins: Container[str]) -> list[str]:
    """The layer whose engine packs constants into most bytes more, where L2 and L3 have no room for a plan, if any.

    Those that are pinned stay where they are.
    """
    if plan.l2_needed <= l2_bytes and plan.constants_in("l3") <= soc.memory.l3.size:
        return []
    grown: dict[str, int] = {}
    for planned in plan.layers:
        parts = planned.layer.parts or (planned.layer,)
        given = {t.storage for part in parts for t in part.inputs}
        packed = {t for t in layer_constants(planned) if plan.constants()[t] in ("l2", "l3")}
        more = sum(t.spec.bytes for t in packed) - sum(t.spec.bytes for t in given if t.kind == "constant")
        if planned.engine != CLUSTER and more > 0 and not all(part.name in pins for part in parts):
            grown[planned.layer.name] = more
    return [max(grown, key=lambda name: grown[name])] if grown else []


def spread_weights(plan: Plan, soc: Any, stated: Container[str] = ()) -> Plan:
    """Weights that one part of the weight memory has no room for go to the other parts, the last used first.

    `stated`: names of those that stay where a user has them.
    """
    parts = soc.software.weight_parts
    free = {level: size - plan.constants_in(level) for level, size in parts.items()}
    moved: dict[Tensor, str] = {}
    for tensor, level in reversed(plan.constants().items()):
        if free.get(level, 0) >= 0 or tensor.name in stated:
            continue
        other = next((name for name, room in free.items() if room >= tensor.spec.bytes), None)
        if other is not None:
            free[level] += tensor.spec.bytes
            free[other] -= tensor.spec.bytes
            moved[tensor] = other
    return plan.with_levels(moved)


def check_capacity(plan: Plan, soc: Any, l2_bytes: int, l2_available: int) -> None:
    """Raise where L2 or a weight memory is too small, with what would help. `l2_available`: without a user's limit."""
    needed, largest = plan.l2_needed, _largest(plan, "l2")
    if needed > l2_bytes:
        way_out = "use smaller inputs or fewer channels"
        if needed <= l2_available:
            way_out = f"raise --l2 to at least {needed}"
        raise UserError(
            f"the network needs {needed} bytes of L2 and {l2_bytes} are available beside the code "
            f"({needed - l2_bytes} missing; activations and what comes from L3 take {plan.arena.size}, largest "
            f"constant that stays '{largest.name if largest else '-'}'): {way_out}"
        )
    needed, largest = plan.constants_in("l3") + plan.network.state_bytes("l3"), _largest(plan, "l3")
    if needed > soc.memory.l3.size:
        missing = f"need {needed} bytes of L3 and SoC {soc.name} has {soc.memory.l3.size}"
        if largest is None:
            raise UserError(f"the caches {missing}: keep fewer tokens")
        raise UserError(
            f"the network's constants {missing} (largest '{largest.name}' with {largest.spec.bytes}): use fewer "
            "channels, layers or bits per weight"
        )
    for level, size in soc.software.weight_parts.items():
        needed = plan.constants_in(level)
        if needed > size:
            moved = layers_to_move(plan, soc, level)
            pins = " ".join(f"--pin {name}=cluster" for name in moved)
            raise UserError(
                f"the packed weights need {needed} bytes and the {level.removeprefix('weight_')} weight "
                f"memory has {size} ({needed - size} missing): keep some of them in L2 for the cores with "
                f"{pins}, which frees {sum(moved.values())} bytes, or shrink the network"
            )


def _largest(plan: Plan, level: str) -> Tensor | None:
    """The largest constant at a level, the first of those."""
    return max((t for t, at in plan.constants().items() if at == level), key=lambda t: t.spec.bytes, default=None)
