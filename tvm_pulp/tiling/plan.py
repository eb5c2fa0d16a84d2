"""The deployment plan: for every layer the engine, the form, the tiles, and where every buffer lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.tiling.arena import Arena, Buffer, aligned, plan_arena
from tvm_pulp.tiling.greedy import L1_ALIGNMENT, Tiling
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Local, Recipe, Store, descriptor_words
from tvm_pulp.uma.strategy import Refusal


@dataclass(frozen=True)
class PlacedTile:
    """One tile's steps and the L1 offset of each of its buffers. Descriptors lie at offset 0."""

    box: Box
    recipe: Recipe
    offsets: dict[Local, int]

    def slots(self) -> dict[int, int]:
        """L1 offset of each descriptor, by the position of its step."""
        found, position = {}, 0
        for index, step in enumerate(self.recipe.steps):
            if isinstance(step, Call | Job):
                found[index] = position
                position += 4 * step.words
        return found


@dataclass(frozen=True)
class Offer:
    """What an engine would take for a layer: planned cycles, or why it does not fit."""

    engine: str
    form: str
    cycles: int | None
    reason: str = ""


@dataclass(frozen=True)
class LayerPlan:
    """A layer's engine and tiles."""

    layer: Layer
    tiling: Tiling
    tiles: tuple[PlacedTile, ...]
    offers: tuple[Offer, ...]
    refusals: tuple[Refusal, ...]

    @property
    def engine(self) -> str:
        return self.tiling.form.engine


@dataclass(frozen=True)
class Plan:
    """The whole network's plan."""

    network: Network
    soc: str
    cores: int
    l1_bytes: int  # budget
    layers: tuple[LayerPlan, ...]
    arena: Arena  # activations in L2

    @property
    def l1_peak(self) -> int:
        return max((p.tiling.l1_bytes for p in self.layers), default=0)

    def constants(self) -> list[Tensor]:
        """Constant tensors that some step reads, in order of first use."""
        found: dict[Tensor, None] = {}
        for plan in self.layers:
            for tile in plan.tiles:
                for step in tile.recipe.steps:
                    for tensor in _tensors(step):
                        if tensor.kind == "constant":
                            found.setdefault(tensor.storage)
        return list(found)


def _tensors(step: Any) -> list[Tensor]:
    if isinstance(step, Load | Store):
        return [step.tensor]
    if isinstance(step, Kernel):
        return [t for t in step.operands if isinstance(t, Tensor)]
    if isinstance(step, Call):
        return []
    assert isinstance(step, Job)
    return [step.weights] if isinstance(step.weights, Tensor) else []


def place_tile(box: Box, recipe: Recipe) -> PlacedTile:
    """Descriptors, then the buffers of a tile one behind the other."""
    offsets: dict[Local, int] = {}
    position = aligned(4 * descriptor_words(recipe.steps), L1_ALIGNMENT)
    for local in recipe.locals():
        offsets[local] = position
        position += aligned(local.bytes, L1_ALIGNMENT)
    return PlacedTile(box, recipe, offsets)


def plan_layer(layer: Layer, tiling: Tiling, offers: list[Offer], refusals: list[Refusal]) -> LayerPlan:
    """Place all tiles of a chosen tiling."""
    placed = tuple(place_tile(box, tiling.form.recipe(box)) for box in tiling.tiles)
    return LayerPlan(layer, tiling, placed, tuple(offers), tuple(refusals))


def plan_l2(network: Network, layers: tuple[LayerPlan, ...]) -> Arena:
    """Offsets of activations in L2; workspaces only where a layer runs from L2."""
    from_l2 = {p.layer for p in layers if p.tiling.form.name == "from L2"}
    spaces = {t for layer in from_l2 for t in layer.workspaces}
    buffers = [
        Buffer(t, t.spec.bytes, *alive)
        for t, alive in network.lifetimes().items()
        if t.kind == "activation" or t in spaces
    ]
    return plan_arena(buffers)


def describe(plan: Plan) -> dict[str, Any]:
    """The plan as plain data: what the verifier and the archive get."""
    return {
        "soc": plan.soc,
        "cores": plan.cores,
        "l1_bytes": plan.l1_bytes,
        "l2": {
            "size": plan.arena.size,
            "largest_live_set": plan.arena.largest_live_set,
            "tensors": [
                {"name": t.name, "offset": offset, "bytes": t.spec.bytes, "alive": list(alive)}
                for t, alive in plan.network.lifetimes().items()
                if (offset := plan.arena.offsets.get(t)) is not None
            ],
        },
        "constants": [{"name": t.name, "level": t.level, "bytes": t.spec.bytes} for t in plan.constants()],
        "layers": [_describe_layer(p) for p in plan.layers],
    }


def _describe_layer(plan: LayerPlan) -> dict[str, Any]:
    return {
        "name": plan.layer.name,
        "op": plan.layer.operator,
        "engine": plan.engine,
        "form": plan.tiling.form.name,
        "estimated_cycles": plan.tiling.cycles,
        "outputs": [{"name": t.storage.name, "shape": list(t.spec.shape)} for t in plan.layer.outputs],
        "tiles": [_describe_tile(t) for t in plan.tiles],
    }


def _describe_tile(tile: PlacedTile) -> dict[str, Any]:
    names = {local: f"{local.name}@{offset}" for local, offset in tile.offsets.items()}

    def operand(item: Local | Tensor) -> str:
        return names[item] if isinstance(item, Local) else f"tensor:{item.storage.name}"

    steps: list[dict[str, Any]] = []
    for step in tile.recipe.steps:
        if isinstance(step, Load):
            steps.append(
                {"do": "load", "tensor": step.tensor.storage.name, "start": list(step.box.start),
                 "size": list(step.box.size), "writes": [operand(step.local)]}
            )  # fmt: skip
        elif isinstance(step, Store):
            steps.append(
                {"do": "store", "tensor": step.tensor.storage.name, "start": list(step.box.start),
                 "size": list(step.box.size), "reads": [operand(step.local)]}
            )  # fmt: skip
        elif isinstance(step, Kernel):
            steps.append(
                {"do": "kernel", "op": step.operator, "reads": [operand(i) for i in step.inputs],
                 "writes": [operand(o) for o in (*step.outputs, *step.workspaces)]}
            )  # fmt: skip
        else:
            what = (
                {"do": "job", "engine": step.engine} if isinstance(step, Job) else {"do": "call", "op": step.function}
            )
            reads, writes = [operand(i) for i in step.reads], [operand(o) for o in step.writes]
            steps.append({**what, "reads": reads, "writes": writes})
    buffers = [{"name": names[b], "offset": o, "bytes": b.bytes} for b, o in tile.offsets.items()]
    words = descriptor_words(tile.recipe.steps)
    if words:
        buffers.insert(0, {"name": "descriptors@0", "offset": 0, "bytes": 4 * words})
    return {"start": list(tile.box.start), "size": list(tile.box.size), "buffers": buffers, "steps": steps}
