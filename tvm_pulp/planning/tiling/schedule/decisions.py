"""Everything that a search may change about a plan, and the policy that it amounts to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tvm_pulp.planning.tiling.forms.layer_forms import LayerForms
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.residency import find_uses
from tvm_pulp.planning.tiling.schedule.split_transfers import NO_LIMITS, CommandLimits
from tvm_pulp.qnn.network import Network, Tensor

# Memories from which constants come to L1.
_MAIN_MEMORIES = ("l2", "l3")


@dataclass(frozen=True)
class Decisions:
    """Everything that a search may change, and nothing else: the same decisions make the same plan.

    Layers are numbered in the order in which they run. Where layers are not cut yet (`choices` is empty), decisions are
    where rules begin: an order, regions and engines.
    """

    # Layers in the order in which they run, each with the ways to run it: operators one by one, or regions of several.
    layers: tuple[LayerForms, ...] = ()
    # Engines of layers that do not run where they are cheapest by themselves, by the names of the layers.
    engines: Mapping[str, str] = field(default_factory=dict)
    # Form, cut and copies of every layer.
    choices: tuple[Choice, ...] = ()
    # Steps by which the constants of a layer are fetched ahead of its first step; 0 is none.
    leads: Mapping[int, int] = field(default_factory=dict)
    overlap: bool = True  # whether transfers overlap with anything
    interleave: bool = False  # whether steps of neighbouring layers mix
    # Layers that begin when all before them are over nevertheless.
    apart: frozenset[int] = frozenset()
    # Readers that find an activation in L1; None: all that can, but for those that are banned from it.
    resident: Mapping[Tensor, frozenset[int]] | None = None
    banned: Mapping[Tensor, frozenset[int]] = field(default_factory=dict)
    # Constants that lie elsewhere than their forms say, and the size from which on all others come from L3.
    levels: Mapping[Tensor, str] = field(default_factory=dict)
    l3_from: int | None = None
    # Levels of constants by their names, in whatever form they are, where that form allows it.
    levels_by_name: Mapping[str, str] = field(default_factory=dict)
    # Bytes that come from L3 at a time, at least: so much is fetched while what was fetched before is used.
    l3_batch: int = 0
    # Bytes up to which constants and records of neighbouring layers travel together; 0: those of a layer alone.
    bundle_bytes: int = 0

    @cached_property
    def cuts(self) -> tuple[tuple[int, bool], ...]:
        """Equal for decisions that cut all layers alike."""
        return tuple((id(choice.tiling), choice.two_copies) for choice in self.choices)

    @property
    def cuts_and_leads(self) -> tuple[object, ...]:
        """Equal for decisions of a rule that agree in cuts and leads: how small tiles might be does not matter."""
        return self.cuts, tuple(self.leads.items()), self.overlap

    def engine(self, layer: int) -> str:
        """The engine that was decided for a layer; "" where it may be any."""
        return self.engines.get(self.layers[layer].layer.name, "")

    def __hash__(self) -> int:
        return hash((self.layers, self.cuts, self.interleave, self.l3_from))

    def constant_levels(self) -> dict[Tensor, str]:
        """The level of every constant that does not lie where its form says."""
        found = dict(self.levels) | self._named_levels()
        if self.l3_from is not None:
            for tensor in (tensor for choice in self.choices for tensor in choice.loaded):
                if tensor.level == "l2" and tensor.spec.bytes >= self.l3_from:
                    found.setdefault(tensor, "l3")
        return found

    def _named_levels(self) -> dict[Tensor, str]:
        """Levels that are told by names: what an engine reads in its weight memory stays in such a memory."""
        if not self.levels_by_name:
            return {}
        constants = (tensor for choice in self.choices for recipe in choice.recipes for tensor in recipe.constants)
        stated = ((tensor, self.levels_by_name.get(tensor.name, tensor.level)) for tensor in constants)
        return {t: level for t, level in stated if (level in _MAIN_MEMORIES) == (t.level in _MAIN_MEMORIES)}


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Decisions as a schedule carries them out: residency only where tiles allow it."""

    leads: Mapping[int, int] = field(default_factory=dict)
    overlap: bool = True
    interleave: bool = False
    apart: frozenset[int] = frozenset()
    # Readers (layer indices) that find an activation in L1.
    resident: Mapping[Tensor, frozenset[int]] = field(default_factory=dict)
    # Constants that lie elsewhere than their tensors say.
    levels: Mapping[Tensor, str] = field(default_factory=dict)
    l3_batch: int = 0
    bundle_bytes: int = 0
    # What a command of the DMA can do: a property of the machine, not a choice.
    commands: CommandLimits = NO_LIMITS

    def joins(self, layer: int) -> bool:
        """Tell if a layer may begin while those before it are under way."""
        return self.interleave and layer > 0 and layer not in self.apart

    def level(self, tensor: Tensor) -> str:
        """The level of memory where the bytes of a tensor lie."""
        return self.levels.get(tensor.storage, tensor.storage.level)


def policy_of(network: Network, decisions: Decisions, commands: CommandLimits) -> Policy:
    """The policy that decisions amount to."""
    choices = decisions.choices
    resident, levels = {}, decisions.constant_levels()
    for tensor, uses in find_uses(network, [choice.touched for choice in choices]).items():
        readers = frozenset(uses.candidates - decisions.banned.get(tensor, frozenset()))
        if tensor.kind == "constant":
            # Nobody decides about these: what several layers read stays as long as there is room.
            readers = frozenset() if levels.get(tensor) == "l3" else readers
        elif decisions.resident is not None:
            readers &= decisions.resident.get(tensor, frozenset())
        # A network input that layers read in tiles streams better than it waits to be complete.
        elif uses.producer is None and all(len(choices[r].recipes) > 1 for r in readers):
            readers = frozenset()
        if readers:
            resident[tensor] = readers
    return Policy(
        leads=decisions.leads,
        overlap=decisions.overlap,
        interleave=decisions.interleave,
        apart=decisions.apart,
        resident=resident,
        levels=levels,
        l3_batch=decisions.l3_batch,
        bundle_bytes=decisions.bundle_bytes,
        commands=commands,
    )
