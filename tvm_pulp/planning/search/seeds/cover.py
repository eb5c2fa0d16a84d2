"""The cheapest cover: every operator of the network in exactly one region, of any engine or of the cores.

Candidates may overlap. A region first costs what its cheapest form takes by itself: the cover with the least sum is
where a search begins that asks what the whole network would take. Of equal ones that with fewer regions is taken,
then that of engines named first. Operators that the user pinned stay on their engine in every region.

A cover is where decisions begin: its regions, in the order of their results, and engines as pins say for them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tvm_pulp.errors import UserError
from tvm_pulp.planning.search.constraint_model import ConstraintModel
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.forms import LayerForms, Offer, handicapped, pin_of
from tvm_pulp.planning.tiling.schedule import Decisions
from tvm_pulp.qnn.network import Layer

# Deterministic seconds; covers of hundreds of overlapping regions take hundredths.
_SOLVER_TIME = 1.0
# Kinds of regions, by operators and shapes, that are tried the other way.
_MOST_KINDS = 8
# By how much that has to make the network faster: all figures are estimates.
LEAST_GAIN = 0.003
# Of networks with so many operators, which take long to plan, covers that cost so many times the best are not planned:
# none of those that were measured was the fastest.
_LONG, _HOPELESS = 32, 1.04


@dataclass(frozen=True, eq=False)
class _Candidate:
    entry: LayerForms
    operators: tuple[int, ...]
    cost: int | None  # by which candidates are compared; None where it does not fit into L1
    engine: str = ""
    cycles: int = 0

    def overlaps(self, other: "_Candidate") -> bool:
        return not set(self.operators).isdisjoint(other.operators)


# Regions of several operators that do not overlap.
Taken = frozenset[_Candidate]


class Covers:
    """Covers of a network, as sets of regions of several operators; every other operator is a region of its own.

    `pins`: engines of operators, those of the problem and more.
    """

    def __init__(self, problem: Problem, pins: Mapping[str, str]) -> None:
        self._problem, self._operators, self._pins = problem, problem.operators, pins
        position = {entry.layer: index for index, entry in enumerate(self._operators)}
        found = []
        for entry in problem.regions:
            pin = _pin(entry.layer, pins)
            if pin is not None:
                inside = tuple(position[part] for part in entry.layer.parts)
                found.append(_candidate(entry, inside, pin, problem.l1_bytes))
        self._regions = [candidate for candidate in found if candidate.cost is not None]
        self._touched = sorted({i for candidate in self._regions for i in candidate.operators})
        self._single = {
            i: _candidate(entry, (i,), pins.get(entry.layer.name, ""), problem.l1_bytes)
            for i, entry in enumerate(self._operators)
            if i in self._touched
        }

    def cheapest(self) -> Taken:
        """Regions of the cover with the least sum."""
        if not self._regions:
            return frozenset()
        found = _solve([*self._regions, *self._single.values()], self._touched, self._problem.priority)
        return frozenset(found) & frozenset(self._regions)

    def fastest(self, expected: Callable[[Decisions], int | None]) -> Decisions:
        """The cover that is expected to be fastest: from the cheapest on, one kind of regions after the other is tried
        the other way. Calls, waits and code that has to be fetched show in the whole network only.

        `expected`: cycles of the network with a cover; None where something does not fit.
        """
        taken = self.cheapest()
        best = self.cover(taken)
        if not self._regions:
            return best
        cycles = expected(best)
        for kind in self._kinds():
            for other in _changed(taken, kind):
                if len(self._operators) > _LONG and self._cost(other) > _HOPELESS * self._cost(taken):
                    continue
                changed = self.cover(other)
                found = expected(changed)
                if found is not None and (cycles is None or found < (1 - LEAST_GAIN) * cycles):
                    taken, best, cycles = other, changed, found
        return best

    def _cost(self, taken: Taken) -> int:
        """The sum of a cover, of operators that regions could hold."""
        inside = {i for candidate in taken for i in candidate.operators}
        every = [*taken, *(self._single[i] for i in self._touched if i not in inside)]
        return sum(candidate.cost or 0 for candidate in every)

    def _kinds(self) -> list[list[_Candidate]]:
        """Regions with the same operators and shapes, kinds with most of them first."""
        kinds: dict[object, list[_Candidate]] = {}
        for candidate in self._regions:
            layer = candidate.entry.layer
            shapes = tuple((t.spec.shape, t.spec.dtype) for t in (*layer.inputs, *layer.outputs))
            kinds.setdefault((layer.operator, shapes), []).append(candidate)
        return sorted(kinds.values(), key=lambda kind: -len(kind))[:_MOST_KINDS]

    def cover(self, taken: Taken = frozenset()) -> Decisions:
        """The cover with these regions, and what others would have cost."""
        ends = {c.operators[-1]: c for c in taken}
        inside = {i for c in taken for i in c.operators}
        forms, pinned = [], dict(self._pins)
        for index, entry in enumerate(self._operators):
            others = [c for c in self._regions if c.operators[-1] == index and c not in taken]
            lost = [Offer(c.engine, f"{c.entry.layer.operator} as one", c.cycles) for c in others]
            if index in ends:
                pin = _pin(ends[index].entry.layer, self._pins)
                pinned |= {entry.layer.name: pin} if pin else {}
                forms.append(replace(ends[index].entry, rivals=(_apart(ends[index], self._single), *lost)))
            elif index not in inside:
                forms.append(replace(entry, rivals=tuple(lost)) if lost else entry)
        return self._problem.start(forms, pinned)


def _changed(taken: Taken, kind: Sequence[_Candidate]) -> list[Taken]:
    """Without all regions of a kind, and with as many of them as possible."""
    without = taken.difference(kind)
    chosen: list[_Candidate] = []
    for candidate in kind:
        if not any(candidate.overlaps(other) for other in chosen):
            chosen.append(candidate)
    others = [c for c in without if not any(c.overlaps(other) for other in chosen)]
    return [other for other in (without, frozenset((*others, *chosen))) if other != taken]


def recorded_cover(problem: Problem, recorded: Mapping[str, str]) -> Decisions:
    """The cover of a plan that was written: names of its layers with their operators. What is inside has no entry."""
    taken = {
        e.layer: e
        for e in problem.regions
        if recorded.get(e.layer.name) == e.layer.operator
        and not any(part.name in recorded for part in e.layer.parts[:-1])
    }
    ends = {layer.parts[-1]: entry for layer, entry in taken.items()}
    inside = {part for layer in taken for part in layer.parts}
    entries = (entry for entry in problem.operators if entry.layer in ends or entry.layer not in inside)
    return problem.start((ends.get(entry.layer, entry) for entry in entries), {})


def _pin(region: Layer, pins: Mapping[str, str]) -> str | None:
    """The engine that the user wants for the operators of a region, "" for any; None where they want two."""
    wanted = {pins[part.name] for part in region.parts if part.name in pins}
    return None if len(wanted) > 1 else next(iter(wanted), "")


def _candidate(entry: LayerForms, operators: tuple[int, ...], engine: str, l1_bytes: int) -> _Candidate:
    try:
        tiling = entry.tiling(l1_bytes, engine)
    except UserError:
        return _Candidate(entry, operators, None)
    return _Candidate(entry, operators, round(handicapped(tiling)), pin_of(tiling.form), tiling.cycles)


def _solve(candidates: Sequence[_Candidate], operators: Sequence[int], priority: Sequence[str]) -> list[_Candidate]:
    """Candidates that hold every operator once and cost least. What does not fit by itself counts as very expensive."""
    model = ConstraintModel()
    chosen = [model.boolean(f"c{number}") for number in range(len(candidates))]
    for operator in operators:
        model.add_exactly_one(v for v, c in zip(chosen, candidates, strict=True) if operator in c.operators)
    impossible = 1 + sum(c.cost for c in candidates if c.cost is not None)
    # Between equal costs fewer regions decide, then engines that the user named first: digits of one number.
    ranks = [priority.index(c.engine) if c.engine in priority else len(priority) for c in candidates]
    one_region = 1 + sum(ranks)
    one_cycle = one_region * (1 + len(candidates))
    costs = [
        one_cycle * (impossible if c.cost is None else c.cost) + one_region + rank
        for c, rank in zip(candidates, ranks, strict=True)
    ]
    model.minimize(sum(cost * variable for cost, variable in zip(costs, chosen, strict=True)))
    outcome = model.solve(random_seed=0, max_deterministic_time=_SOLVER_TIME)
    assert outcome.found, "single operators are a cover"
    return [c for c, variable in zip(candidates, chosen, strict=True) if outcome.value(variable)]


def _apart(region: _Candidate, single: Mapping[int, _Candidate]) -> Offer:
    """The offer of a region's operators one by one."""
    parts = [single[i] for i in region.operators]
    if any(part.cost is None for part in parts):
        return Offer("apart", "operator by operator", None, "one of them does not fit into L1")
    how = " and ".join(f"{part.entry.layer.operator} on {part.engine}" for part in parts)
    return Offer("apart", how, sum(part.cycles for part in parts), f"{region.cycles:,} as one")
