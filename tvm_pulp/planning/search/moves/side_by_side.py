"""Layers that do not depend on each other on parts of the cores, at the same time.

A layer too small for hundreds of cores takes as long on half of them, so that two such layers side by side take as long
as one. Among layers that follow each other, those that share data belong to one chain; chains are given to teams so
that all end about together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tvm_pulp.planning.search.moves.move import Proposals
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.forms import CLUSTER, LayerForms, Tiling
from tvm_pulp.planning.tiling.forms.split_form import SplitForm
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Choice, Decisions
from tvm_pulp.qnn.network import Layer

# Layers of a window at most, and the part of its cycles that has to be saved for it to be tried.
_WINDOW, _LEAST_SAVED = 8, 0.05


@dataclass(frozen=True)
class _Window:
    """Layers from `first` on with the teams that run them, and the cycles that this saves."""

    first: int
    tilings: tuple[Tiling, ...]
    saved: int

    @property
    def layers(self) -> range:
        return range(self.first, self.first + len(self.tilings))


def side_by_side(problem: Problem, plan: Plan, teams: Sequence[tuple[int, ...]], _turn: int) -> Proposals:
    """Decisions with independent layers on teams: in all places where that may pay, and where it pays most."""
    if not problem.costs.has_teams or not plan.policy.overlap:
        return
    found = sorted(_windows(problem, plan, teams), key=lambda w: (-w.saved, w.first))
    taken: list[_Window] = []
    for window in found:
        if not any(set(window.layers) & set(other.layers) for other in taken):
            taken.append(window)
    for count in dict.fromkeys((len(taken), min(1, len(taken)))):
        if count:
            where = f" in {count} places" if count > 1 else ""
            yield f"layers side by side{where}", _with(plan.decisions, taken[:count])


def _with(decisions: Decisions, windows: Sequence[_Window]) -> Decisions:
    choices = list(decisions.choices)
    for window in windows:
        for index, tiling in zip(window.layers, window.tilings, strict=True):
            choices[index] = Choice(tiling, choices[index].two_copies, max(choices[index].budget, tiling.l1_bytes))
    return replace(decisions, choices=tuple(choices))


def _windows(problem: Problem, plan: Plan, teams: Sequence[tuple[int, ...]]) -> Iterator[_Window]:
    layers, choices = plan.network.layers, plan.decisions.choices
    runs_on_cores = [_is_of_cores(choice.tiling) for choice in choices]
    for first in range(len(layers)):
        for last in range(first + 1, min(first + _WINDOW, len(layers))):
            if not all(runs_on_cores[first : last + 1]):
                break
            chains = _chains(layers[first : last + 1])
            if len(chains) > 1 and (window := _divided(problem, plan, first, chains, teams)):
                yield window


def _is_of_cores(tiling: Tiling) -> bool:
    """Tell if all cores run a layer, in L1."""
    return tiling.form.engine == CLUSTER and not isinstance(tiling.form, SplitForm) and tiling.l1_bytes > 0


def _chains(layers: Sequence[Layer]) -> list[list[int]]:
    """Places of layers that share something that one of them writes, group by group."""
    chain = list(range(len(layers)))
    for place, layer in enumerate(layers):
        mine, read = {t.storage for t in layer.outputs}, {t.storage for t in layer.inputs}
        for before in range(place):
            written, used = ({t.storage for t in side} for side in (layers[before].outputs, layers[before].inputs))
            if read & written or mine & (written | used):
                chain = [chain[place] if number == chain[before] else number for number in chain]
    return [[place for place in range(len(layers)) if chain[place] == number] for number in dict.fromkeys(chain)]


def _divided(
    problem: Problem, plan: Plan, first: int, chains: Sequence[list[int]], choices: Sequence[tuple[int, ...]]
) -> _Window | None:
    """The window with its chains on teams, or None where that saves too little."""
    count = sum(map(len, chains))
    together = sum(_cycles(plan.decisions.choices[first + place].tiling) for place in range(count))
    together += (count - len(chains)) * problem.costs.barrier_cycles
    best: _Window | None = None
    for teams in choices if len(chains) > 2 else choices[:1]:
        made = _on_teams(problem, plan.decisions.layers[first:], chains, teams)
        if made is None:
            continue
        tilings, longest = made
        saved = together - longest
        if saved > _LEAST_SAVED * together and (best is None or saved > best.saved):
            best = _Window(first, tilings, saved)
    return best


def _on_teams(
    problem: Problem, layers: Sequence[LayerForms], chains: Sequence[list[int]], teams: Sequence[int]
) -> tuple[tuple[Tiling, ...], int] | None:
    """Tilings of all layers, and when the last team ends: the longest chain first, each where it ends first."""
    known: dict[int, Tiling] = {}
    busy = dict.fromkeys(teams, 0)
    options: dict[tuple[int, int], Tiling] = {}
    for chain in chains:
        for place in chain:
            for team in teams:
                tiling = _on_team(problem, layers[place], team)
                if tiling is None:
                    return None
                options[place, team] = tiling

    def length(chain: list[int], team: int) -> int:
        return sum(_cycles(options[place, team]) for place in chain)

    for chain in sorted(chains, key=lambda chain: -length(chain, teams[0])):
        team = min(teams, key=lambda t: (busy[t] + length(chain, t), t))
        busy[team] += length(chain, team)
        known |= {place: options[place, team] for place in chain}
    return tuple(known[place] for place in range(len(known))), max(busy.values())


def _on_team(problem: Problem, entry: LayerForms, team: int) -> Tiling | None:
    """The cheapest form of a layer on a team, in one piece; None where there is none."""
    found = []
    for cuts in entry.on_team(team):
        tiling = cuts.within(problem.l1_bytes)
        if isinstance(tiling, Tiling) and len(tiling.tiles) == 1:
            found.append(tiling)
    return min(found, key=lambda tiling: tiling.cycles, default=None)


def _cycles(tiling: Tiling) -> int:
    """Cycles of its cores."""
    return sum(recipe.cycles for recipe in tiling.recipes)
