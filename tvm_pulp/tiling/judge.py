"""Judging decisions: the plan they make, with the cycles it is expected to take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.tiling.choose import Chooser, make_plan
from tvm_pulp.tiling.commands import CommandLimits
from tvm_pulp.tiling.decisions import Decisions, nothing_in_l3
from tvm_pulp.tiling.plan import Plan


@dataclass(frozen=True)
class Judge:
    """Builds and times plans. `timed` lowers a plan and adds its expected cycles; later stages do that."""

    network: Network
    soc: Any
    chooser: Chooser
    cores: int
    l1_bytes: int
    timed: Callable[[Plan], Plan]
    _known: dict[object, Plan] = field(default_factory=dict, init=False, compare=False)

    @cached_property
    def costs(self) -> CostModel:
        """What things take on this machine."""
        return CostModel(self.soc, self.cores)

    @cached_property
    def commands(self) -> CommandLimits:
        """What a command of the machine's DMA can do."""
        return CommandLimits(self.soc.software.dma_largest, self.soc.software.dma_lines)

    def __call__(self, wanted: Decisions) -> Plan:
        plan = make_plan(self.network, self.soc, self.chooser, wanted, cores=self.cores, l1_bytes=self.l1_bytes)
        return self.timed(plan)

    def once(self, wanted: Decisions) -> Plan:
        """As a call, for cuts and leads alone: what was judged before is not judged again."""
        assert not wanted.banned and wanted.resident is None
        if wanted.in_l3 is not nothing_in_l3:
            return self(wanted)  # tensors keep their levels from one judgement to the next
        key = (tuple((id(c.tiling), c.overlap) for c in wanted.choices), tuple(wanted.leads.items()), wanted.overlap)
        if key not in self._known:
            self._known[key] = self(wanted)
        return self._known[key]
