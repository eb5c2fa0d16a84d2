"""The problem of a search: a network, what is offered for it, the machine, and what the user fixed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.planning.program.step_record import COMMAND_WORDS
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
    # What the user stated: how long to search, and whether anything may be fetched ahead.
    options: CompileOptions = field(default_factory=CompileOptions)
    # Plans that were made lately, by their decisions.
    plans: dict[Decisions, Plan] = field(default_factory=dict, repr=False)
    _networks: dict[tuple[LayerForms, ...], Network] = field(default_factory=dict, repr=False)

    @property
    def overlap(self) -> bool:
        """Tell if anything may be fetched ahead."""
        return self.options.double_buffer

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

    def network_of(self, decisions: Decisions) -> Network:
        """The network with the layers that were decided, in their order."""
        if decisions.layers not in self._networks:
            layers = [entry.layer for entry in decisions.layers]
            self._networks[decisions.layers] = replace(self.network, layers=layers)
        return self._networks[decisions.layers]
