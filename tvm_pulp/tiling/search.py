"""Search for a fast plan: several ways to cut and to fetch ahead, judged by their expected cycles.

Cutting a layer finer than L1 demands lets transfers, accelerator and cores overlap, but costs calls and halos; fetching
constants early hides their transfer, but takes L1 from others. Variants of the whole network are estimated first; then
every layer takes the cut that was best for it, and the result stands if it is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvm_pulp.errors import UserError
from tvm_pulp.tiling.decisions import Choice, Decisions, InL3, layer_work, nothing_in_l3
from tvm_pulp.tiling.fit import fit
from tvm_pulp.tiling.greedy import L1_ALIGNMENT, MissingL1
from tvm_pulp.tiling.judge import Judge
from tvm_pulp.tiling.plan import Plan
from tvm_pulp.tiling.prefetch_leads import prefetch_leads

# Leads that mean: each layer's own, to have its operands so many cycles early.
JUST_IN_TIME, IN_GOOD_TIME = 1000, 1001
SLACK = {JUST_IN_TIME: 400, IN_GOOD_TIME: 2500}
# Steps by which constants are fetched ahead, and parts of L1 that a tile may take: what is tried.
LEADS = (1, 2, 4, JUST_IN_TIME, IN_GOOD_TIME)
PARTS = (2, 4, 8)
# Bytes by which an L1 that is too small grows at least while one is sought that is enough, and how far it may be off.
_LEAST_MORE = 256
# Networks of more steps are planned with fewer trials.
MANY_STEPS = 700


@dataclass(frozen=True)
class Cut:
    """What is tried with a layer: the bytes that a tile may take, and whether there are two copies of what streams."""

    cap: int
    double: bool = True


@dataclass(frozen=True)
class Attempt:
    """A plan with its expected cycles, and how it was made."""

    name: str
    plan: Plan
    lead: int = 0
    cuts: tuple[Cut, ...] = ()

    @property
    def cycles(self) -> int:
        return self.plan.estimated_cycles


def wanted(judge: Judge, lead: int, cuts: Sequence[Cut], in_l3: InL3) -> Decisions:
    """As few tiles as the cuts allow, as much as possible in L1, constants fetched `lead` steps ahead.

    `JUST_IN_TIME` and `IN_GOOD_TIME` give every layer its own lead. No lead at all means no overlap of transfers with
    anything.
    """
    choices = []
    for index, cut in enumerate(cuts):
        tiling = judge.chooser(index, cut.cap)
        overlap = lead > 0 and cut.double and len(tiling.tiles) > 1
        choices.append(Choice(tiling, overlap, cut.cap, alone=not cut.double))
    leads = dict.fromkeys(range(len(choices)), lead) if lead else {}
    if lead in SLACK:
        leads = dict(enumerate(prefetch_leads([layer_work(c, in_l3) for c in choices], SLACK[lead], judge.costs)))
    return Decisions(choices, leads, lead > 0, in_l3=in_l3, commands=judge.commands)


def simplest(judge: Judge, in_l3: InL3) -> Attempt:
    """Nothing overlaps. What does not fit like this does not fit at all."""
    cuts = whole_l1(judge)
    return Attempt("no overlap", judge(wanted(judge, 0, cuts, in_l3)), 0, cuts)


def whole_l1(judge: Judge) -> tuple[Cut, ...]:
    """Tiles as large as L1 allows."""
    return (Cut(judge.l1_bytes),) * len(judge.chooser.forms)


def enough_l1(judge: Judge, error: MissingL1) -> MissingL1:
    """The error with the bytes that make the whole network fit: found by trying."""

    def missing(l1_bytes: int) -> MissingL1 | None:
        cuts = (Cut(l1_bytes),) * len(judge.chooser.forms)
        try:
            fit(judge.network, judge.chooser, l1_bytes, wanted(judge, 0, cuts, nothing_in_l3))
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


def search(judge: Judge, first: Attempt, in_l3: InL3) -> list[Attempt]:
    """Attempts with overlap, after the `first` without. Deterministic."""
    tried: list[Attempt] = []
    chooser, l1_bytes = judge.chooser, judge.l1_bytes

    known: set[object] = set()

    def consider(name: str, lead: int, cuts: Sequence[Cut], most_tiles: int | None = None) -> None:
        # Two copies of everything may be too much where one is not.
        try:
            decisions = wanted(judge, lead, cuts, in_l3)
            key = (tuple((id(c.tiling), c.overlap) for c in decisions.choices), tuple(decisions.leads.items()))
            if key in known or (most_tiles and sum(len(c.tiling.tiles) for c in decisions.choices) > most_tiles):
                return
            known.add(key)
            plan = judge.once(decisions)
        except UserError:
            return
        tried.append(Attempt(name, plan, lead, tuple(cuts)))

    for lead in LEADS:
        consider(_name(lead), lead, first.cuts)
    # Large tiles one after the other may be better than smaller ones that overlap.
    for lead in SLACK:
        consider(f"{_name(lead)}, single buffers", lead, [replace(cut, double=False) for cut in first.cuts])
    best = min([first, *tried], key=lambda a: a.cycles)
    if len(first.plan.schedule.slots) > MANY_STEPS or best.lead == 0:
        return tried
    for part in PARTS:
        cap = l1_bytes // part
        cuts = [Cut(cap if chooser.fits(i, cap) else l1_bytes) for i in range(len(chooser.forms))]
        consider(f"{_name(best.lead)}, L1 / {part}", best.lead, cuts, MANY_STEPS)
    consider(f"{_name(best.lead)}, best cuts", best.lead, _best_cuts(tried))
    return tried


def _name(lead: int) -> str:
    return {JUST_IN_TIME: "just in time", IN_GOOD_TIME: "in good time"}.get(lead, f"{lead} ahead")


def _best_cuts(tried: Sequence[Attempt]) -> list[Cut]:
    """For every layer the cut with which it was fastest."""
    cuts = []
    for index in range(len(tried[0].cuts)):
        best = min(tried, key=lambda a: (a.plan.layers[index].estimated_cycles, -a.cuts[index].cap))
        cuts.append(best.cuts[index])
    return cuts
