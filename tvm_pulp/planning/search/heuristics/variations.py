"""The best plan so far, varied in one respect: layers that mix, inputs in pieces, constants that come together.

Every variation names decisions that may be better; `vary` has them planned.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts import Attempt
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.heuristics.cut_in_step import cut_in_step
from tvm_pulp.planning.search.heuristics.join_plans import join_plans
from tvm_pulp.planning.search.heuristics.policies import MANY_STEPS
from tvm_pulp.planning.search.heuristics.side_by_side import side_by_side
from tvm_pulp.planning.search.heuristics.tile_pipelines import can_gain, in_other_form, pipelined
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Choice, Decisions, can_interleave, leads_of_order
from tvm_pulp.qnn.network import Tensor

# Shares of the first layer of a chain that its first tile takes: those behind it follow.
_SHARES = (0.75, 0.68, 0.6)
# Numbers of rows whose layers are cut apart from those of others, and layers that are tried in another form.
_ROW_COUNTS, _OTHER_FORMS = 3, 6
# Pieces of inputs that are tried, and inputs that are worth it.
_PIECES = (2, 3, 5)
_LARGE_INPUT = 8192
# Bytes that are fetched from L3 together, and bytes of constants that come to L1 together, at most: what is tried.
_BATCHES = (65536, 131072, 262144, 524288)
_BUNDLE_SIZES = (1024, 2048, 4096)
# Cycles by which large constants are there before their layer: what is tried, and from how many bytes on.
_SLACKS = (400, 2500, 5000)
_LARGE_BUNDLE = 2048
# Where a change takes so many times the cycles, those of its kind that follow are not tried; of plans of many steps,
# which take long, sooner.
_HOPELESS, _HOPELESS_IF_LONG, _LONG = 1.05, 1.03, 256

Changes = Iterator[tuple[str, Decisions]]


def vary(problem: Problem, best: Attempt, variation: Callable[[Problem, Plan], Changes]) -> Iterator[Attempt]:
    """Attempts that change the best one in one respect only, as far as they fit and as long as they may pay.

    A variation goes on into one direction: where two steps in a row make it worse, the next would too; in plans of many
    steps one is enough.
    """
    is_long = len(best.plan.schedule.slots) > _LONG
    before, most = best.cycles, best.cycles * (_HOPELESS_IF_LONG if is_long else _HOPELESS)
    for name, wanted in variation(problem, best.plan):
        with suppress(UserError):
            attempt = Attempt(f"{best.name}, {name}", evaluate(problem, wanted))
            yield attempt
            if attempt.cycles > most or attempt.cycles > before > best.cycles or (is_long and attempt.cycles > before):
                return
            before = attempt.cycles


def join_attempts(problem: Problem, best: Attempt, others: Sequence[Attempt]) -> Iterator[Attempt]:
    """Attempts that take some layers from the best plan and some from another, each of the best so far."""
    for other in others:
        wanted = None if other.plan is best.plan else join_plans(best.plan, other.plan)
        if wanted is None:
            continue
        with suppress(UserError):
            name = other.name.removeprefix(best.name).strip(", ")
            attempt = Attempt(f"{best.name}, in part {name}", evaluate(problem, wanted))
            yield attempt
            best = min(best, attempt, key=lambda a: a.cycles)


def mix_layers(problem: Problem, plan: Plan) -> Changes:
    """Steps interleaved, or not where they are, so that the next layer's jobs begin while the cores finish this one's;
    and cuts that follow each other."""
    decisions = plan.decisions
    if not plan.policy.overlap or len(plan.schedule.slots) > MANY_STEPS:
        return
    if not can_interleave(decisions.choices):
        return
    mixed = not decisions.interleave
    yield f"layers {'mixed' if mixed else 'one by one'}", replace(decisions, interleave=mixed, apart=frozenset())
    for share in _SHARES:
        if wanted := cut_in_step(decisions, share):
            yield f"cut in step from {share}", wanted


def pipeline_tiles(problem: Problem, plan: Plan, number: int | None) -> Changes:
    """Layers of engines and cores in pieces that follow each other: all of them, or those with the number of rows that
    takes the `number`th most cycles."""
    is_long = len(plan.schedule.slots) > _LONG
    if (number is None or plan.decisions.interleave) and can_gain(plan):
        yield from pipelined(plan.decisions, number, is_long=is_long)


def change_form(problem: Problem, plan: Plan, number: int) -> Changes:
    """In a pipeline of few steps, another form of a layer, which leaves more to its engine or to the cores."""
    if plan.decisions.interleave and len(plan.schedule.slots) <= _LONG and can_gain(plan):
        yield from in_other_form(plan, number)


def stream_inputs(problem: Problem, plan: Plan) -> Changes:
    """Large inputs of the network read in pieces: the first layers start before all of it has arrived."""
    for pieces in _PIECES if plan.policy.overlap else ():
        if wanted := _in_pieces(plan.decisions, pieces):
            yield f"inputs in {pieces} pieces", wanted


def stream_constants(_problem: Problem, plan: Plan) -> Changes:
    """More constants at a time from L3, so that waits even out and L2 is used better."""
    for batch in _BATCHES if plan.schedule.fetches else ():
        yield f"{batch // 1024} kB at a time from L3", replace(plan.decisions, l3_batch=batch)


def fetch_by_order(problem: Problem, plan: Plan) -> Changes:
    """Constants fetched as early as the order of steps asks for, where layers mix: they were chosen without it.

    Where none of them are large, all come within a step.
    """
    decisions = plan.decisions
    mixed = decisions.interleave and plan.policy.overlap
    steps = [(slot.layer, slot.tile, slot.step) for slot in plan.schedule.slots]
    for slack in _SLACKS if mixed and any(b.bytes >= _LARGE_BUNDLE for b in plan.schedule.bundles) else ():
        leads = leads_of_order(steps, decisions.choices, slack, problem.costs)
        yield f"constants {slack} cycles early", replace(decisions, leads=dict(enumerate(leads)))


def join_bundles(_problem: Problem, plan: Plan) -> Changes:
    """Constants and records of several small layers together: fewer transfers."""
    bundles = plan.schedule.bundles
    small = sum(b.bytes <= _BUNDLE_SIZES[0] // 2 for b in bundles)
    for size in _BUNDLE_SIZES if plan.policy.overlap and small >= len(bundles) // 3 else ():
        yield f"constants by {size // 1024} kB", replace(plan.decisions, bundle_bytes=size)


def _in_pieces(decisions: Decisions, pieces: int) -> Decisions | None:
    """Decisions with layers that read large inputs cut finer; None where there is no such layer."""
    choices, streamed = list(decisions.choices), set[Tensor]()
    for index, entry in enumerate(decisions.layers):
        large = [t.storage for t in entry.layer.inputs if t.storage.kind == "input" and t.spec.bytes >= _LARGE_INPUT]
        tiling = choices[index].tiling
        cap, engine = tiling.l1_bytes // pieces, decisions.engine(index)
        if large and len(tiling.tiles) < pieces and entry.fits(cap, engine):
            choices[index] = Choice(entry.tiling(cap, engine), True, cap)
            streamed.update(large)
    resident = decisions.resident
    if resident is not None:
        resident = {t: readers for t, readers in resident.items() if t not in streamed}
    return replace(decisions, choices=tuple(choices), resident=resident) if streamed else None


# In the order in which they are tried, each of the best so far.
VARIATIONS: tuple[Callable[[Problem, Plan], Changes], ...] = (
    mix_layers,
    *(partial(pipeline_tiles, number=number) for number in (None, *range(_ROW_COUNTS))),
    *(partial(change_form, number=number) for number in range(_OTHER_FORMS)),
    fetch_by_order,
    stream_inputs,
    stream_constants,
    join_bundles,
    side_by_side,
)
