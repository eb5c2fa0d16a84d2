"""The deployment plan: engine, form and tiles of every layer; schedule and places of the whole network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tvm_pulp.planning.program.plan_record import Planner
from tvm_pulp.planning.program.step_record import AGENTS
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.planning.tiling.forms import Offer, pin_of
from tvm_pulp.planning.tiling.place import Arena, Buffer, plan_arena
from tvm_pulp.planning.tiling.schedule import Choice, Decisions, Policy, Program
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.quick_records import changed
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.region import Region
from tvm_pulp.uma.strategy import Refusal


@dataclass(frozen=True, kw_only=True)
class LayerPlan(Choice):
    """A layer's engine and tiles, and what was offered."""

    layer: Layer
    offers: tuple[Offer, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    # What its engine calls the region: a pattern, or the operator on the cores.
    pattern: str = ""
    estimated_cycles: int = 0
    # Expected cycles between the end of the layers before and its own: what it adds, wherever it waited.
    added_cycles: int = 0
    # Expected cycles by which it begins before the end of those before.
    early_cycles: int = 0

    @property
    def engine(self) -> str:
        return self.tiling.form.engine

    @property
    def tiles(self) -> tuple[Box, ...]:
        return self.tiling.tiles


@dataclass(frozen=True)
class Plan:
    """The whole network's plan."""

    network: Network
    soc: str
    cores: int
    l1_bytes: int  # budget
    layers: tuple[LayerPlan, ...]
    schedule: Program
    arena: Arena  # activations in L2
    l1_peak: int
    agents: int = AGENTS  # cores that may issue transfers
    commands_in_flight: int = 10  # transfers of a core that the DMA takes before it holds the core up
    # What was decided, and how it was found.
    decisions: Decisions = field(default_factory=Decisions)
    policy: Policy = field(default_factory=Policy)
    planner: Planner | None = None
    solver_seconds: float = 0.0  # by the clock on the wall: not part of what is written to archives
    estimated_cycles: int = 0

    @property
    def gives_up_overlap(self) -> bool:
        """Tell if some layers have one buffer of each kind only: L1 has no room for two, or none is wanted."""
        return any(choice.exclusive for choice in self.decisions.choices)

    def regions(self) -> list[Region]:
        """The choice: every layer with the engine that runs it, or both of a split one."""
        return [Region(p.layer, pin_of(p.tiling.form), p.pattern) for p in self.layers]

    def l3_offsets(self) -> dict[Tensor, int]:
        """Offsets of constants in L3."""
        offsets, position = {}, 0
        for fetch in self.schedule.fetches:
            if fetch.tensor.kind == "constant":
                offsets[fetch.tensor] = position
                position += aligned(fetch.tensor.spec.bytes)
        return offsets

    def table_bytes(self) -> int:
        """Bytes that bundles take in L2 beyond the constants of which they hold parts: records, descriptors, copies."""
        inside = {p.tensor.storage for b in self.schedule.bundles for p in b.pieces}
        return sum(b.bytes for b in self.schedule.bundles) - sum(t.spec.bytes for t in inside)

    @cached_property
    def l2_needed(self) -> int:
        """All of L2 that it takes: activations, constants, bundles, inputs and outputs."""
        return self.arena.size + self.table_bytes() + self.constants_in("l2") + self.outside_bytes()

    def with_levels(self, levels: Mapping[Tensor, str]) -> "Plan":
        """The plan with some constants in other parts of the weight memory: all the rest stays as it is."""
        decisions = replace(self.decisions, levels={**self.decisions.levels, **levels})
        policy = replace(self.policy, levels={**self.policy.levels, **levels})
        return replace(self, decisions=decisions, policy=policy)

    def outside_bytes(self) -> int:
        """Bytes of the caller's inputs and outputs in L2; state may lie elsewhere."""
        ends = (*self.network.inputs, *self.network.outputs)
        return sum(t.spec.bytes for t in ends if t.storage.level == "l2")

    def constants_in(self, level: str) -> int:
        """Bytes of constants at a level of memory."""
        return sum(tensor.spec.bytes for tensor, found in self.constants().items() if found == level)

    def constants(self) -> dict[Tensor, str]:
        """Constant tensors that some step reads, in order of first use, with the levels where they lie."""
        return {tensor: self.policy.level(tensor) for layer in self.layers for tensor in layer_constants(layer)}


def layer_constants(layer: LayerPlan) -> list[Tensor]:
    """Constant tensors that some step of a layer reads, in order of first use."""
    return list(dict.fromkeys(tensor for recipe in layer.recipes for tensor in recipe.constants))


def with_estimate(plan: Plan, cycles: int, layer_cycles: Sequence[int], layer_spans: Sequence[tuple[int, int]]) -> Plan:
    """The plan with expected cycles of the network and of every layer, and when each layer's steps begin and end."""
    layers, before = [], 0
    for layer, taken, (start, end) in zip(plan.layers, layer_cycles, layer_spans, strict=True):
        added, early = max(0, end - before), max(0, min(before, end) - start)
        layers.append(changed(layer, estimated_cycles=taken, added_cycles=added, early_cycles=early))
        before = max(before, end)
    return replace(plan, layers=tuple(layers), estimated_cycles=cycles)


def plan_l2(schedule: Program, policy: Policy) -> Arena:
    """Offsets in L2 of the activations that have to be there."""
    buffers = [
        Buffer(tensor, tensor.spec.bytes, *alive)
        for tensor, alive in schedule.l2_alive.items()
        if tensor.kind in ("activation", "workspace") or policy.level(tensor) == "l3"
    ]
    return plan_arena(buffers)
