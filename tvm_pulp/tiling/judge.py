"""Judging decisions: the plan they make, with the cycles it is expected to take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tvm_pulp.qnn.network import Network
from tvm_pulp.tiling.choose import Chooser, make_plan
from tvm_pulp.tiling.decisions import Decisions
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

    def __call__(self, wanted: Decisions) -> Plan:
        plan = make_plan(self.network, self.soc, self.chooser, wanted, cores=self.cores, l1_bytes=self.l1_bytes)
        return self.timed(plan)
