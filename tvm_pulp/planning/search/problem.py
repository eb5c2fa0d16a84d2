"""The problem of a search: a network, what is offered for it, the machine, and what the user fixed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.planning.program.stated_decisions import StatedDecisions
from tvm_pulp.planning.program.step_record import COMMAND_WORDS
from tvm_pulp.planning.search.stated_order import in_stated_order
from tvm_pulp.planning.tiling.forms import LayerForms
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import CommandLimits, Decisions
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.cost_model import CostModel


@dataclass(frozen=True, eq=False)
class Problem:
    """A network to be planned. `operators`: what is offered for each layer of it; `regions`: for several as one."""

    network: Network
    operators: Sequence[LayerForms]
    regions: Sequence[LayerForms]
    soc: Any
    cores: int
    l1_bytes: int
    l2_bytes: int
    # Engines by the names of operators that the user keeps on them, and engines in the order in which they were named.
    pins: Mapping[str, str] = field(default_factory=dict)
    priority: Sequence[str] = ()
    # Whether anything may be fetched ahead.
    overlap: bool = True
    # What the user stated: how long to search, and part of the decisions.
    options: CompileOptions = field(default_factory=CompileOptions)
    stated: StatedDecisions = field(default_factory=StatedDecisions)
    # Plans that were made lately, by their decisions.
    plans: dict[Decisions, Plan] = field(default_factory=dict, repr=False)
    _networks: dict[tuple[LayerForms, ...], Network] = field(default_factory=dict, repr=False)

    @cached_property
    def costs(self) -> CostModel:
        """Cycles of things on this machine."""
        return CostModel(self.soc, self.cores)

    @cached_property
    def commands(self) -> CommandLimits:
        """Limits of a command of the machine's DMA."""
        software = self.soc.software
        records = self.soc.memory.l2.size + sum(software.weight_parts.values())
        return CommandLimits(software.dma_largest, software.dma_lines, records // (4 * COMMAND_WORDS))

    def start(self, layers: Iterable[LayerForms], engines: Mapping[str, str]) -> Decisions:
        """Decisions about a cover to begin with, in the order that was stated."""
        return Decisions(
            tuple(in_stated_order(list(layers), self.stated.order)), engines, levels_by_name=self.stated.levels
        )

    def network_of(self, decisions: Decisions) -> Network:
        """The network with the layers that were decided, in their order."""
        if decisions.layers not in self._networks:
            layers = [entry.layer for entry in decisions.layers]
            self._networks[decisions.layers] = replace(self.network, layers=layers)
        return self._networks[decisions.layers]
