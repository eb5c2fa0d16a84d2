"""Search for a fast plan: several ways to cut and to fetch ahead, judged by their expected cycles.

Cutting a layer finer than L1 demands lets transfers, accelerator and cores overlap, but costs calls and halos; fetching
constants early hides their transfer, but takes L1 from others. Variants of the whole network are estimated first; then
every layer takes the cut that was best for it, and the result stands if it is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Network
from tvm_pulp.tiling.choose import Chooser, make_plan
from tvm_pulp.tiling.fit import JUST_IN_TIME
from tvm_pulp.tiling.plan import Plan

# Steps by which constants are fetched ahead, and parts of L1 that a tile may take: what is tried.
LEADS = (1, 2, 4, JUST_IN_TIME)
PARTS = (2, 4, 8)
# Networks of more steps are planned with fewer trials.
_MANY_STEPS = 700


@dataclass(frozen=True)
class Judged:
    """A plan with its expected cycles."""

    plan: Plan
    lead: int
    caps: tuple[int, ...]

    @property
    def cycles(self) -> int:
        return self.plan.estimated_cycles


def search(
    network: Network,
    soc: Any,
    chooser: Chooser,
    judge: Callable[[Plan], Plan],
    *,
    cores: int,
    l1_bytes: int,
    overlap: bool,
    l3_from: int | None = None,
) -> Plan:
    """The fastest plan found. `judge` lowers a plan and adds its expected cycles. Deterministic."""
    count = len(network.layers)

    def attempt(lead: int, caps: Sequence[int]) -> Judged:
        plan = make_plan(network, soc, chooser, cores=cores, l1_bytes=l1_bytes, lead=lead, caps=caps, l3_from=l3_from)
        return Judged(judge(plan), lead, tuple(caps))

    whole = [l1_bytes] * count
    # What does not fit without any overlap does not fit at all.
    tried = [attempt(0, whole)]
    if not overlap:
        return tried[0].plan

    def consider(lead: int, caps: Sequence[int]) -> None:
        # Two copies of everything may be too much where one is not.
        with suppress(UserError):
            tried.append(attempt(lead, caps))

    for lead in LEADS:
        consider(lead, whole)
    best = min(tried, key=lambda j: j.cycles)
    if len(tried[0].plan.schedule.slots) > _MANY_STEPS or best.lead == 0:
        return best.plan
    for part in PARTS:
        consider(best.lead, [l1_bytes // part if chooser.fits(i, l1_bytes // part) else l1_bytes for i in range(count)])
    consider(best.lead, _best_caps(tried[1:]))
    return min(tried, key=lambda j: j.cycles).plan


def _best_caps(tried: Sequence[Judged]) -> list[int]:
    """For every layer the cap with which it was fastest."""
    caps = []
    for index in range(len(tried[0].caps)):
        best = min(tried, key=lambda j: (j.plan.layers[index].estimated_cycles, -j.caps[index]))
        caps.append(best.caps[index])
    return caps
