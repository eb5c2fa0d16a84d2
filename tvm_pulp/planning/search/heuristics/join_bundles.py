"""Plans of small layers with fewer transfers: constants and records of several layers come together."""

from collections.abc import Iterator
from dataclasses import replace

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts.attempt import Attempt
from tvm_pulp.planning.search.attempts.evaluator import PlanEvaluator

# Bytes that come together, at most: what is tried.
_SIZES = (1024, 2048, 4096)


def join_bundles(evaluator: PlanEvaluator, best: Attempt) -> Iterator[Attempt]:
    """Attempts that change the best one so far in this respect only."""
    bundles = best.plan.schedule.bundles
    if not best.plan.overlap or sum(b.bytes <= _SIZES[0] // 2 for b in bundles) < len(bundles) // 2:
        return
    for size in _SIZES:
        try:
            plan = evaluator.plan(replace(best.plan.decisions.copy(), bundle_bytes=size))
        except UserError:
            continue
        yield Attempt(f"{best.name}, constants by {size // 1024} kB", plan)
