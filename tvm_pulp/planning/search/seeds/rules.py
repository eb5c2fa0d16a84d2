"""Search for a fast plan: several ways to cut and to fetch ahead, compared by their expected cycles.

Cutting a layer finer than L1 demands lets transfers, accelerator and cores overlap, but costs calls and halos; fetching
constants early hides their transfer, but takes L1 from others. Variants of the whole network are estimated first; then
every layer takes the cut that was best for it, and the result stands if it is faster.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.attempts import Attempt, TileLimit
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.moves.table import MANY_STEPS
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT
from tvm_pulp.planning.tiling.forms.cuts import MissingL1
from tvm_pulp.planning.tiling.place.fit_schedule import fit_schedule
from tvm_pulp.planning.tiling.schedule import Choice, Decisions, prefetch_leads

# Leads that mean: each layer's own, to have its operands so many cycles early.
JUST_IN_TIME, IN_GOOD_TIME, BESIDE_JOBS = 1000, 1001, 1002
SLACK = {JUST_IN_TIME: 400, IN_GOOD_TIME: 2500, BESIDE_JOBS: 2500}
# Steps by which constants are fetched ahead: what is tried.
LEADS = (1, 2, 4, JUST_IN_TIME, IN_GOOD_TIME, BESIDE_JOBS)
# Parts of L1 that a tile may take: halves down to this one, and further while they are as large as this.
_LAST_PART, _LARGE_PART = 8, 24 << 10
# Bytes by which an L1 that is too small grows at least while one is sought that is enough, and how far it may be off.
_LEAST_MORE = 256
# Where two copies of everything cut tiles so small that it takes so many times the cycles, leads do not matter.
_HOPELESS = 1.03
# Where single buffers take so many times the cycles, leads do not matter either, nor finer cuts where cuts do.
_FAR_BEHIND = 1.05


def rule_decisions(
    problem: Problem, start: Decisions, lead: int, limits: Sequence[TileLimit], l3_from: int | None = None
) -> Decisions:
    """As few tiles as the limits allow, as much as possible in L1, constants fetched `lead` steps ahead.

    `start` says the order of layers and their engines, `l3_from` from which size on constants come from L3.

    `JUST_IN_TIME` and `IN_GOOD_TIME` give every layer its own lead. No lead at all means no overlap of transfers with
    anything.
    """
    choices = []
    for index, limit in enumerate(limits):
        tiling = start.layers[index].tiling(limit.cap, start.engine(index))
        two_copies = lead > 0 and limit.two_copies and len(tiling.tiles) > 1
        choices.append(Choice(tiling, two_copies, limit.cap, exclusive=not limit.two_copies))
    leads = dict.fromkeys(range(len(choices)), lead) if lead else {}
    if lead in SLACK:
        leads = dict(enumerate(prefetch_leads(choices, SLACK[lead], problem.costs, beside_jobs=lead == BESIDE_JOBS)))
    return replace(start, choices=tuple(choices), leads=leads, overlap=lead > 0, l3_from=l3_from)


def without_overlap(problem: Problem, start: Decisions, l3_from: int | None = None) -> Attempt:
    """Nothing overlaps. What does not fit like this does not fit at all."""
    limits = whole_l1(problem, start)
    wanted = rule_decisions(problem, start, 0, limits, l3_from)
    return Attempt("no overlap", evaluate(problem, wanted), 0, limits)


def greedy_attempt(problem: Problem, start: Decisions, l3_from: int | None) -> Attempt:
    """The baseline, as tools plan that tile layer by layer: every layer fills L1, one buffer of each kind, nothing
    overlaps and nothing stays in L1."""
    limits = whole_l1(problem, start)
    decisions = replace(rule_decisions(problem, start, 0, limits, l3_from), resident={})
    return Attempt("greedy", evaluate(problem, decisions), 0, limits)


def whole_l1(problem: Problem, start: Decisions) -> tuple[TileLimit, ...]:
    """Tiles as large as L1 allows."""
    return (TileLimit(problem.l1_bytes),) * len(start.layers)


def enough_l1(problem: Problem, start: Decisions, error: MissingL1) -> MissingL1:
    """The error with the bytes that make the whole network fit: found by trying."""

    def missing(l1_bytes: int) -> MissingL1 | None:
        limits = (TileLimit(l1_bytes),) * len(start.layers)
        try:
            wanted = rule_decisions(problem, start, 0, limits)
            fit_schedule(problem.network_of(start), wanted, l1_bytes, problem.commands)
        except MissingL1 as more:
            return more
        return None

    too_little, enough = error.l1_bytes, error.needed
    while (more := missing(enough)) is not None:
        too_little, enough = enough, max(more.needed, enough + _LEAST_MORE)
    # What a layer asks for holds for the cuts that were tried: a little less may do.
    while enough - too_little > _LEAST_MORE:
        middle = (too_little + enough) // 2 // L1_ALIGNMENT * L1_ALIGNMENT
        too_little, enough = (middle, enough) if missing(middle) else (too_little, middle)
    return MissingL1(error.layer, enough, error.l1_bytes)


def one_rule(problem: Problem, start: Decisions, first: Attempt, l3_from: int | None) -> list[Attempt]:
    """The attempt with overlap that is rarely far from the best, after the `first` without."""
    with suppress(UserError):
        plan = evaluate(problem, rule_decisions(problem, start, IN_GOOD_TIME, first.limits, l3_from))
        return [Attempt(_name(IN_GOOD_TIME), plan, IN_GOOD_TIME, first.limits)]
    return []


def try_rules(problem: Problem, start: Decisions, first: Attempt, l3_from: int | None) -> list[Attempt]:
    """Attempts with overlap, after the `first` without. Deterministic."""
    tried: list[Attempt] = []
    known: set[object] = set()

    def consider(name: str, lead: int, limits: Sequence[TileLimit], most_tiles: int | None = None) -> None:
        # Two copies of everything may be too much where one is not.
        try:
            decisions = rule_decisions(problem, start, lead, limits, l3_from)
            tiles = sum(len(c.tiling.tiles) for c in decisions.choices)
            if decisions.cuts_and_leads in known or (most_tiles and tiles > most_tiles):
                return
            known.add(decisions.cuts_and_leads)
            plan = evaluate(problem, decisions)
        except UserError:
            return
        tried.append(Attempt(name, plan, lead, tuple(limits)))

    for lead in LEADS:
        # Where constants that come in good time are in the way of others, still earlier ones are.
        if lead == BESIDE_JOBS and tried and tried[-1].cycles > _FAR_BEHIND * min(a.cycles for a in tried):
            break
        consider(_name(lead), lead, first.limits)
        # Nor where layers gave up overlap for lack of L1, and the others lose by it.
        most = first.cycles * (1 if tried and tried[0].plan.gives_up_overlap else _HOPELESS)
        hopeless = bool(tried) and tried[0].cycles > most
        if hopeless:
            break
    # Large tiles one after the other may be better than smaller ones that overlap.
    best = min([first, *tried], key=lambda a: a.cycles)
    for lead in SLACK:
        consider(f"{_name(lead)}, single buffers", lead, [replace(limit, two_copies=False) for limit in first.limits])
        if tried and tried[-1].cycles > _FAR_BEHIND * best.cycles:
            break
    best = min([first, *tried], key=lambda a: a.cycles)
    if hopeless or len(first.plan.schedule.slots) > MANY_STEPS or best.lead == 0:
        return tried
    part = 1
    while part < _LAST_PART or problem.l1_bytes // (2 * part) >= _LARGE_PART:
        part *= 2
        cap = problem.l1_bytes // part
        fits = (entry.fits(cap, start.engine(index)) for index, entry in enumerate(start.layers))
        limits = [TileLimit(cap if small else problem.l1_bytes) for small in fits]
        consider(f"{_name(best.lead)}, L1 / {part}", best.lead, limits, MANY_STEPS)
        fastest = min(a.cycles for a in tried)
        if tried[-1].cycles > _FAR_BEHIND * fastest and tried[-1].limits == tuple(limits):
            break
    consider(f"{_name(best.lead)}, best cuts", best.lead, _best_limits(tried))
    return tried


def _name(lead: int) -> str:
    names = {JUST_IN_TIME: "just in time", IN_GOOD_TIME: "in good time", BESIDE_JOBS: "in good time beside jobs"}
    return names.get(lead, f"{lead} ahead")


def _best_limits(tried: Sequence[Attempt]) -> list[TileLimit]:
    """For every layer the cut with which it was fastest."""
    limits = []
    for index in range(len(tried[0].limits)):
        best = min(tried, key=lambda a: (a.plan.layers[index].estimated_cycles, -a.limits[index].cap))
        limits.append(best.limits[index])
    return limits
