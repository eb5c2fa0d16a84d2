"""Layers of engines and of cores as pipelines of tiles: the cores work on tile n while an engine makes tile n + 1.

Layers are cut along their rows into steps of about equally many cycles, whoever runs them, and steps are interleaved: a
layer begins with the rows that are there. A form that leaves less to the cores may then be better than one that takes
fewer cycles by itself, and the other way round.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tvm_pulp.planning.search.moves.move import Proposals
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.forms import CLUSTER, pin_of
from tvm_pulp.planning.tiling.forms.cuts import Cuts, Tiling
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Choice, Decisions
from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.recipe import Recipe
from tvm_pulp.uma.strategy import Form, TileAxis

# Rows by which a tile may be larger than that, for the engine's sake, and the part of its cycles that a row must save.
_MORE_ROWS, _ROW_GAIN = 5, 0.025
# Another form may take so many times the cycles, engine and cores one after the other, and has to save engine or cores
# this part of the plan's: it gains no more than that.
_COSTLIER, _LEAST_SAVED = 2.0, 0.01
# A plan that takes less than so many times the cycles of whoever is busiest has nothing to win.
_LEAST_IDLE = 1.08
# Steps of plans that are cut finely already.
_LONG = 256


@dataclass(frozen=True)
class _InRows:
    """A layer in a form that can be cut along its rows: the first axis that is longer than one."""

    index: int
    layer: Layer
    cuts: Cuts
    axis: TileAxis

    @property
    def rows(self) -> int:
        return self.layer.outputs[0].spec.shape[self.axis.axis]

    def cut(self, cycles: int) -> Tiling | None:
        """The cheapest cut into pieces whose steps take about so many cycles."""
        axis, shape, unit = self.axis.axis, self.layer.outputs[0].spec.shape, self.axis.least or self.axis.step
        least = -(-self.rows // max(1, round(max(_busy(self.cuts.whole)) / cycles)))
        most = min(least + _MORE_ROWS, self.axis.limit or self.rows, self.rows)
        sizes = [size for size in range(least, most + 1) if size % unit == 0]
        made = [self.cuts.measure((*shape[:axis], size, *shape[axis + 1 :])) for size in sizes]
        return min(made, key=lambda tiling: tiling.cycles * (1 + _ROW_GAIN * (tiling.size[axis] - least)), default=None)


def can_gain(plan: Plan) -> bool:
    """Tell if both engines and cores have work in a plan, and everybody waits at times."""
    work = [_busy(recipe) for layer in plan.layers for recipe in layer.recipes]
    jobs, cores = (sum(part) for part in zip(*work, strict=True)) if work else (0, 0)
    return plan.policy.overlap and min(jobs, cores) > 0 and plan.estimated_cycles > _LEAST_IDLE * max(jobs, cores)


def core_cycles(problem: Problem, start: Decisions) -> int:
    """Cycles of the cores with tiles as large as L1 allows, which plans with smaller ones do not undercut."""
    tilings = (entry.tiling(problem.l1_bytes, start.engine(index)) for index, entry in enumerate(start.layers))
    return sum(recipe.core_cycles for tiling in tilings for recipe in tiling.recipes)


def pipeline_tiles(_problem: Problem, plan: Plan, cycles: Sequence[int], _turn: int) -> Proposals:
    """All layers of engines and cores in pieces that follow each other."""
    if can_gain(plan):
        # Of a plan of many steps these are shorter already.
        yield from pipelined(plan.decisions, cycles[len(plan.schedule.slots) > _LONG :])


def pipeline_rows(_problem: Problem, plan: Plan, cycles: Sequence[int], turn: int) -> Proposals:
    """In a pipeline, pieces of layers with the number of rows that takes the `turn`th most cycles."""
    if not plan.decisions.interleave or not can_gain(plan):
        return
    found, taken = _as_decided(plan.decisions), Counter[int]()
    for entry in found:
        taken[entry.rows] += sum(_busy(entry.cuts.whole))
    counts = [rows for rows, _ in taken.most_common()]
    for rows in counts[turn : turn + 1]:
        yield from _cut(plan.decisions, [e for e in found if e.rows == rows], cycles, f"{rows} rows")


def pipelined(decisions: Decisions, cycles: Sequence[int]) -> Proposals:
    """Decisions with all layers in steps of about so many cycles."""
    yield from _cut(decisions, _as_decided(decisions), cycles, "all rows")


def _as_decided(decisions: Decisions) -> list[_InRows]:
    """Layers that can be cut along their rows, in their forms."""
    return [entry for entry in _in_rows(decisions) if entry.cuts.form is decisions.choices[entry.index].tiling.form]


def change_form(_problem: Problem, plan: Plan, cycles: Sequence[int], turn: int) -> Proposals:
    """In a pipeline, the `turn`th layer for which another form of its engine may pay, in that form."""
    if not plan.decisions.interleave or not can_gain(plan):
        return
    decisions, found = plan.decisions, []
    for entry in _in_rows(decisions):
        mine, other = decisions.choices[entry.index].tiling, entry.cuts.form
        pinned = decisions.engines.get(entry.layer.name, pin_of(other)) != pin_of(other)
        if other is not mine.form and other.engine == mine.form.engine != CLUSTER and not pinned:
            jobs, cores = (sum(part) for part in zip(*map(_busy, mine.recipes), strict=True))
            theirs = _busy(entry.cuts.whole)
            saved = max(0, jobs - theirs[0]) + max(0, cores - theirs[1])
            if sum(theirs) <= _COSTLIER * (jobs + cores) and saved > _LEAST_SAVED * plan.estimated_cycles:
                found.append(entry)
    for entry in found[turn : turn + 1]:
        yield from _cut(decisions, [entry], cycles, f"{entry.layer.name} as {entry.cuts.form.name}")


def _in_rows(decisions: Decisions) -> Iterator[_InRows]:
    """Forms of all layers that can be cut along their rows, where no other axis has to be."""
    for index, forms in enumerate(decisions.layers):
        layer = forms.layer
        shape = layer.outputs[0].spec.shape
        first = next((i for i, extent in enumerate(shape) if extent > 1), None)
        for cuts in forms.cuts:
            axes = {a.axis: a for a in cuts.axes}
            limited = any(a.limit is not None and a.limit < shape[a.axis] for a in axes.values() if a.axis != first)
            if first in axes and not limited:
                yield _InRows(index, layer, cuts, axes[first])


def _cut(decisions: Decisions, entries: Sequence[_InRows], steps: Sequence[int], what: str) -> Proposals:
    """Decisions with these layers cut into steps of so many cycles, as far as they differ from those before."""
    seen = [decisions]
    for cycles in steps:
        wanted = _with_cuts(decisions, entries, cycles)
        if not any(_same(wanted, other) for other in seen):
            seen.append(wanted)
            yield f"{what} by {cycles} cycles", wanted


def _with_cuts(decisions: Decisions, entries: Sequence[_InRows], cycles: int) -> Decisions:
    choices = list(decisions.choices)
    for entry in entries:
        made, budget = entry.cut(cycles), choices[entry.index].budget
        if made is not None and made.l1_bytes <= budget:
            choices[entry.index] = Choice(made, True, budget)
    return replace(decisions, choices=tuple(choices), interleave=True)


def _same(some: Decisions, other: Decisions) -> bool:
    """Tell if decisions cut all layers alike, and mix them alike."""
    return some.interleave == other.interleave and _cuts(some) == _cuts(other)


def _cuts(decisions: Decisions) -> list[tuple[Form, tuple[int, ...], bool]]:
    """Forms, sizes of tiles and whether there are two of what streams; a single tile has no use for that."""
    tilings = ((choice.tiling, choice.two_copies) for choice in decisions.choices)
    return [(tiling.form, tiling.size, two_copies and len(tiling.tiles) > 1) for tiling, two_copies in tilings]


def _busy(recipe: Recipe) -> tuple[int, int]:
    """Cycles of engines and of the cores."""
    return recipe.engine_cycles, recipe.core_cycles
