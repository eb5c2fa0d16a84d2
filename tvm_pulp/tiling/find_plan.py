"""Finds the plan: heuristics first, then the solver; whatever is expected to be fastest stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvm_pulp.tiling.arrange import arranged
from tvm_pulp.tiling.decisions import InL3, in_l3_from
from tvm_pulp.tiling.greedy import MissingL1
from tvm_pulp.tiling.greedy_plan import greedy
from tvm_pulp.tiling.judge import Judge
from tvm_pulp.tiling.plan import Plan, Planner
from tvm_pulp.tiling.propose import Proposals, propose
from tvm_pulp.tiling.search import MANY_STEPS, Attempt, enough_l1, search, simplest

# By how much a plan of the solver has to be faster than the best heuristic one.
_MARGIN = 0.002
# Where L2 is too small, constants from this size on live in L3: what is tried, largest first.
_L3_FROM = (131072, 65536, 32768, 16384, 8192, 4096, 2048)


def find_plan(judge: Judge, *, planner: str, overlap: bool, l2_bytes: int) -> Plan:
    """The fastest plan found that fits L2, by its expected cycles. One that fits nowhere is returned as it is."""
    if planner != "greedy":
        judge = arranged(judge, overlap=overlap)
    fallback: Plan | None = None
    for l3_from in (None, *_L3_FROM):
        in_l3 = in_l3_from(l3_from)
        try:
            first = greedy(judge, in_l3) if planner == "greedy" else simplest(judge, in_l3)
        except MissingL1 as error:
            raise enough_l1(judge, error) from None
        fallback = fallback or first.plan
        if l2_missing(first.plan, l2_bytes) <= 0:
            if planner == "greedy":
                return replace(first.plan, planner=Planner("greedy", first.name, 1))
            return _best(judge, first, in_l3, overlap=overlap, l2_bytes=l2_bytes)
    assert fallback is not None
    return fallback


def l2_missing(plan: Plan, l2_bytes: int) -> int:
    """Bytes of L2 that a plan needs beyond what there is."""
    outside = sum(t.spec.bytes for t in (*plan.network.inputs, *plan.network.outputs))
    return plan.arena.size + plan.table_bytes() + plan.constants_in("l2") + outside - l2_bytes


def _fastest(tried: Sequence[Attempt]) -> Attempt:
    """The fastest attempt; a later one has to be clearly faster, since all figures are estimates."""
    best = tried[0]
    for attempt in tried[1:]:
        if attempt.cycles < best.cycles * (1 - _MARGIN if attempt.name.startswith("solver") else 1):
            best = attempt
    return best


def _best(judge: Judge, first: Attempt, in_l3: InL3, *, overlap: bool, l2_bytes: int) -> Plan:
    tried = [first, *(search(judge, first, in_l3) if overlap else ())]
    tried = [a for a in tried if l2_missing(a.plan, l2_bytes) <= 0]
    proposals = Proposals()
    if len(first.plan.schedule.slots) <= MANY_STEPS:
        best = min(tried, key=lambda a: a.cycles)
        # What is not a constant stays in L2 whatever the solver says.
        others = l2_bytes + l2_missing(best.plan, l2_bytes) - best.plan.constants_in("l2")
        tight = first.plan.constants_in("l3") > 0
        proposals = propose(judge, tried, overlap=overlap, l2_bytes=l2_bytes - others if tight else None)
        tried += [a for a in proposals.attempts if l2_missing(a.plan, l2_bytes) <= 0]
    best = _fastest(tried)
    found = Planner("solver", best.name, len(tried))
    if proposals.solutions:
        # The solution that became the plan, or the last one where a heuristic was better.
        made = [s for a, s in zip(proposals.attempts, proposals.solutions, strict=False) if a is best]
        last = made[0] if made else proposals.solutions[-1]
        found = replace(
            found,
            status=last.status,
            objective_cycles=last.objective,
            bound_cycles=last.bound,
            deterministic_time=round(sum(s.deterministic_time for s in proposals.solutions), 6),
            seconds=sum(s.seconds for s in proposals.solutions),
        )
    # Levels of constants are kept in the tensors: as the chosen plan wants them, not as the last one tried.
    return replace(judge(best.plan.decisions), planner=found)
