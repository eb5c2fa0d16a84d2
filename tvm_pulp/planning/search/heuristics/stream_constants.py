"""Plans that make better use of L2 where constants come from L3: more of them at a time, so that waits even out."""

from collections.abc import Iterator
from dataclasses import replace

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts.attempt import Attempt
from tvm_pulp.planning.search.attempts.evaluator import PlanEvaluator

# Bytes that are fetched together: what is tried.
_BATCHES = (65536, 131072, 262144, 524288)


def stream_constants(evaluator: PlanEvaluator, best: Attempt) -> Iterator[Attempt]:
    """Attempts that change the best one so far in this respect only."""
    if not best.plan.schedule.fetches:
        return
    for batch in _BATCHES:
        try:
            plan = evaluator.plan(replace(best.plan.decisions.copy(), l3_batch=batch))
        except UserError:
            continue
        yield Attempt(f"{best.name}, {batch // 1024} kB at a time from L3", plan)
