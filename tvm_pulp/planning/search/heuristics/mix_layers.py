"""A plan whose layers mix: the next layer's jobs begin while the cores finish this one's."""

from collections.abc import Iterator
from dataclasses import replace

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts.attempt import Attempt
from tvm_pulp.planning.search.attempts.evaluator import PlanEvaluator
from tvm_pulp.planning.search.heuristics.cut_in_step import cut_in_step
from tvm_pulp.planning.search.heuristics.policies import MANY_STEPS
from tvm_pulp.planning.tiling.schedule.decisions import Decisions, tiled_layer
from tvm_pulp.planning.tiling.schedule.interleave_steps import can_interleave

# Shares of the first layer of a chain that its first tile takes: those behind it follow.
_SHARES = (0.75, 0.68, 0.6)


def mix_layers(evaluator: PlanEvaluator, best: Attempt) -> Iterator[Attempt]:
    """The best attempt so far with its steps interleaved, or without where they are; with cuts that follow another."""
    decisions = best.plan.decisions
    if not best.plan.overlap or len(best.plan.schedule.slots) > MANY_STEPS:
        return
    if not can_interleave([tiled_layer(c) for c in decisions.choices]):
        return
    mixed = not decisions.interleave
    wanted: list[tuple[str, Decisions | None]] = [
        (f"layers {'mixed' if mixed else 'one by one'}", replace(decisions.copy(), interleave=mixed))
    ]
    wanted += [(f"cut in step from {share}", cut_in_step(evaluator, decisions, share)) for share in _SHARES]
    for name, changed in wanted:
        if changed is None:
            continue
        try:
            yield Attempt(f"{best.name}, {name}", evaluator.plan(changed))
        except UserError:
            continue
