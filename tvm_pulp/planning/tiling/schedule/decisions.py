"""Decisions of a planner about a network: enough to build its schedule again, and the policy that they amount to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.residency import find_uses
from tvm_pulp.planning.tiling.schedule.split_transfers import NO_LIMITS, CommandLimits
from tvm_pulp.qnn.network import Network, Tensor


@dataclass(frozen=True)
class InL3:
    """Constants that come from L3 although they could be in L2: those of at least so many bytes, of some or of all."""

    least_bytes: int | None = None  # None: no constant
    among: frozenset[Tensor] | None = None  # None: all constants

    def levels(self, choices: Sequence[Choice]) -> dict[Tensor, str]:
        """The level of every constant of these layers that does not lie where its tensor says."""
        if self.least_bytes is None:
            return {}
        loaded = (tensor for choice in choices for tensor in choice.loaded if tensor.level == "l2")
        return {t: "l3" for t in loaded if t.spec.bytes >= self.least_bytes and (self.among is None or t in self.among)}


NOTHING_IN_L3 = InL3()


@dataclass
class Decisions:
    """Decisions about all layers. `banned`: readers that take an activation from L2 although they could use L1."""

    choices: list[Choice] = field(default_factory=list)
    # Steps by which the constants of a layer are fetched ahead of its first step; 0 is none.
    leads: dict[int, int] = field(default_factory=dict)
    overlap: bool = True  # whether transfers overlap with anything
    banned: dict[Tensor, set[int]] = field(default_factory=dict)
    in_l3: InL3 = NOTHING_IN_L3
    # Residency decided completely, instead of everything that is not banned.
    resident: Mapping[Tensor, frozenset[int]] | None = None
    # Bytes that come from L3 at a time, at least: so much is fetched while what was fetched before is used.
    l3_batch: int = 0
    # What a command of the DMA can do: a property of the machine, not a choice.
    commands: CommandLimits = NO_LIMITS
    # Whether steps of neighbouring layers mix; None: as the whole network is arranged.
    interleave: bool | None = None
    # Layers that begin when all before them are over nevertheless.
    apart: frozenset[int] = frozenset()
    # Bytes up to which constants and records of neighbouring layers travel together; 0: those of a layer alone.
    bundle_bytes: int = 0

    @property
    def cuts_and_leads(self) -> tuple[object, ...]:
        """Equal for decisions that agree in cuts, leads, overlap and what comes from L3."""
        cuts = tuple((id(c.tiling), c.two_copies) for c in self.choices)
        return cuts, tuple(self.leads.items()), self.overlap, self.in_l3


@dataclass
class Policy(Decisions):
    """Decisions as a schedule carries them out: residency only where tiles allow it."""

    # Readers (layer indices) that find an activation in L1.
    resident: Mapping[Tensor, frozenset[int]] = field(default_factory=dict)
    interleave: bool = False
    # Constants that lie elsewhere than their tensors say.
    levels: Mapping[Tensor, str] = field(default_factory=dict)

    def joins(self, layer: int) -> bool:
        """Tell if a layer may begin while those before it are under way."""
        return self.interleave and layer > 0 and layer not in self.apart

    def level(self, tensor: Tensor) -> str:
        """The level of memory where the bytes of a tensor lie."""
        return self.levels.get(tensor.storage, tensor.storage.level)


def policy_of(network: Network, decisions: Decisions) -> Policy:
    """The policy that decisions amount to."""
    choices = decisions.choices
    resident, levels = {}, decisions.in_l3.levels(choices)
    for tensor, uses in find_uses(network, [choice.touched for choice in choices]).items():
        readers = frozenset(uses.candidates - decisions.banned.get(tensor, set()))
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
    settled = {"leads": dict(decisions.leads), "resident": resident, "interleave": bool(decisions.interleave)}
    return Policy(**{**vars(decisions), **settled}, levels=levels)
