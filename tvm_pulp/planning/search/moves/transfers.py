"""Transfers at other times or of other sizes: constants earlier, more of them together."""

from collections.abc import Sequence
from dataclasses import replace

from tvm_pulp.planning.search.moves.move import Proposals
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import leads_of_order

# Bytes of constants that are worth a time of their own.
_LARGE_BUNDLE = 2048


def stream_constants(_problem: Problem, plan: Plan, sizes: Sequence[int], _turn: int) -> Proposals:
    """More constants at a time from L3, so that waits even out and L2 is used better."""
    for batch in sizes if plan.schedule.fetches else ():
        yield f"{batch // 1024} kB at a time from L3", replace(plan.decisions, l3_batch=batch)


def fetch_by_order(problem: Problem, plan: Plan, slacks: Sequence[int], _turn: int) -> Proposals:
    """Constants fetched as early as the order of steps asks for, where layers mix: they were chosen without it.

    Where none of them are large, all come within a step.
    """
    decisions = plan.decisions
    mixed = decisions.interleave and plan.policy.overlap
    steps = [(slot.layer, slot.tile, slot.step) for slot in plan.schedule.slots]
    for slack in slacks if mixed and any(b.bytes >= _LARGE_BUNDLE for b in plan.schedule.bundles) else ():
        leads = leads_of_order(steps, decisions.choices, slack, problem.costs)
        yield f"constants {slack} cycles early", replace(decisions, leads=dict(enumerate(leads)))


def join_bundles(_problem: Problem, plan: Plan, sizes: Sequence[int], _turn: int) -> Proposals:
    """Constants and records of several small layers together: fewer transfers."""
    bundles = plan.schedule.bundles
    small = sum(b.bytes <= sizes[0] // 2 for b in bundles)
    for size in sizes if plan.policy.overlap and small >= len(bundles) // 3 else ():
        yield f"constants by {size // 1024} kB", replace(plan.decisions, bundle_bytes=size)
