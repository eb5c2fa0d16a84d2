"""A plan whose first layers start before the network's inputs have arrived: large inputs are read in pieces."""

from collections.abc import Iterator
from dataclasses import replace

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts.attempt import Attempt
from tvm_pulp.planning.search.attempts.evaluator import PlanEvaluator
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule.decisions import Choice, Decisions
from tvm_pulp.qnn.network import Tensor

# Pieces that are tried, and inputs that are worth it.
_PIECES = (2, 3, 5)
_LARGE_INPUT = 8192


def stream_inputs(evaluator: PlanEvaluator, best: Attempt) -> Iterator[Attempt]:
    """Attempts that change the best one so far in this respect only."""
    if not best.plan.overlap:
        return
    for pieces in _PIECES:
        wanted = _in_pieces(evaluator, best.plan, pieces)
        if wanted is None:
            continue
        try:
            yield Attempt(f"{best.name}, inputs in {pieces} pieces", evaluator.plan(wanted))
        except UserError:
            continue


def _in_pieces(evaluator: PlanEvaluator, plan: Plan, pieces: int) -> Decisions | None:
    """The plan's decisions with layers that read large inputs cut finer; None where there is no such layer."""
    wanted = plan.decisions.copy()
    streamed: set[Tensor] = set()
    for index, layer in enumerate(evaluator.network.layers):
        large = [t.storage for t in layer.inputs if t.storage.kind == "input" and t.spec.bytes >= _LARGE_INPUT]
        cap = wanted.choices[index].tiling.l1_bytes // pieces
        if (
            not large
            or len(wanted.choices[index].tiling.tiles) >= pieces
            or not evaluator.engine_choice.fits(index, cap)
        ):
            continue
        wanted.choices[index] = Choice(evaluator.engine_choice.tiling(index, cap), True, cap)
        streamed.update(large)
    if not streamed:
        return None
    if wanted.resident is not None:
        wanted = replace(wanted, resident={t: r for t, r in wanted.resident.items() if t not in streamed})
    return wanted
