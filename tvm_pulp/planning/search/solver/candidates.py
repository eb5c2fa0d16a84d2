"""Candidates: the ways to run a layer that the solver chooses from, with what each takes and costs.

A candidate is a form, a cut and whether what streams has two copies. Many cuts are looked at; those stay that no other
beats in bytes, cycles and in what could stay in L1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tvm_pulp.planning.search.solver.layer_cost import LayerCost, Stream, layer_cost
from tvm_pulp.planning.tiling.forms import Cuts, LayerForms, Tiling, pin_of
from tvm_pulp.planning.tiling.schedule import Choice, Decisions
from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.cost_model import CostModel

MOST_PER_ENGINE = 16
# Parts of L1 that a tile may take, and numbers of pieces along one axis.
_SHARES = (1.0, 0.75, 0.5, 0.33, 0.25, 0.16, 0.1)
_PIECES = (2, 3, 4, 6, 8)
_MOST_TILES = 64
# Forms that take this many times the cycles of the best one are not looked at.
_TOO_SLOW = 2
# The place among a layer's forms of the one that works from L2.
_FROM_L2 = -1


@dataclass(frozen=True)
class Candidate:
    """A way to run a layer. `form` is the position among the layer's forms; the cost is that of one class of layers."""

    form: int
    engine: str
    size: tuple[int, ...]
    two_copies: bool
    cost: LayerCost


def layer_class(entry: LayerForms) -> tuple[object, ...]:
    """Equal for layers that cost the same, whatever their weights and the numbers of their requantization."""
    layer = entry.layer
    operands = tuple((t.spec.shape, t.spec.dtype, t.kind == "constant", t.view_of is None) for t in layer.operands)
    # x + x moves less than x + y.
    stored = [(t.storage, t.first) for t in layer.inputs]
    same = tuple(stored.index(storage) for storage in stored)
    lists = tuple((k, tuple(v)) for k, v in sorted(layer.attributes.items()) if isinstance(v, list | tuple))
    forms = []
    for cuts in entry.cuts:
        form, recipe = cuts.form, cuts.whole
        sizes = tuple((local.name, local.bytes) for local in recipe.locals)
        forms.append((form.engine, cuts.axes, cuts.stated, recipe.cycles, recipe.engine_cycles, sizes))
    return layer.operator, lists, operands, same, tuple(forms)


class Candidates:
    """Candidates of every layer; layers of one class share them."""

    def __init__(self, start: Decisions, l1_bytes: int, costs: CostModel, *, overlap: bool) -> None:
        self._costs = costs
        self._layers, self._l1_bytes, self._overlap = start.layers, l1_bytes, overlap
        self._engines = [start.engine(index) for index in range(len(start.layers))]
        # Numbers that are equal for layers with the same candidates.
        numbers: dict[object, int] = {}
        classes = ((layer_class(entry), name) for entry, name in zip(self._layers, self._engines, strict=True))
        self.classes = [numbers.setdefault(kind, len(numbers)) for kind in classes]
        self._known: dict[int, tuple[Candidate, ...]] = {}

    def of(self, index: int) -> tuple[Candidate, ...]:
        """Candidates of a layer, fastest first; where it can only work from L2 that has to be added."""
        number = self.classes[index]
        if number not in self._known:
            self._known[number] = tuple(self._make(index))
        return self._known[number]

    def add(self, index: int, choice: Choice) -> Candidate:
        """The candidate that stands for a choice, entered if it is new."""
        tiling, forms = choice.tiling, self._layers[index].tiled
        number = next((n for n, form in enumerate(forms) if form is tiling.form), _FROM_L2)
        key = (number, tiling.form.engine, tiling.size, choice.two_copies)
        for candidate in self.of(index):
            if (candidate.form, candidate.engine, candidate.size, candidate.two_copies) == key:
                return candidate
        made = Candidate(*key, self._cost(index, tiling, choice.two_copies))
        self._known[self.classes[index]] += (made,)
        return made

    def tiling(self, index: int, candidate: Candidate) -> Tiling:
        """The candidate's cut of this layer."""
        entry = self._layers[index]
        return entry.from_l2 if candidate.form == _FROM_L2 else entry.cuts[candidate.form].measure(candidate.size)

    def _cost(self, index: int, tiling: Tiling, two_copies: bool) -> LayerCost:
        layer, limits = self._layers[index].layer, (self._l1_bytes, self._costs)
        return layer_cost(layer, tiling, two_copies, *limits, pipelined=self._overlap)

    def _make(self, index: int) -> list[Candidate]:
        entry, engine = self._layers[index], self._engines[index]
        best: dict[int, int] = {}
        for number, cuts in enumerate(entry.cuts):
            widest = cuts.within(self._l1_bytes)
            if isinstance(widest, Tiling) and engine in ("", pin_of(cuts.form)):
                best[number] = widest.cycles
        limit = _TOO_SLOW * min(best.values(), default=0)
        found: list[Candidate] = []
        for number in best:
            if best[number] > limit:
                continue
            cuts = entry.cuts[number]
            for size in dict.fromkeys(self._sizes(entry.layer, cuts)):
                tiling = cuts.measure(size)
                if tiling.l1_bytes > self._l1_bytes:
                    continue
                for two_copies in (False, True) if self._overlap and len(tiling.tiles) > 1 else (False,):
                    cost = self._cost(index, tiling, two_copies)
                    if cost.bytes_in_l1 <= self._l1_bytes:
                        found.append(Candidate(number, cuts.form.engine, size, two_copies, cost))
        return _prune(found)

    def _sizes(self, layer: Layer, cuts: Cuts) -> Iterator[tuple[int, ...]]:
        """Cuts worth measuring: the coarsest within parts of L1, and few pieces along each axis."""
        for share in _SHARES:
            tiling = cuts.within(int(self._l1_bytes * share))
            if isinstance(tiling, Tiling) and len(tiling.tiles) <= _MOST_TILES:
                yield tiling.size
        if self._overlap:
            yield from cuts.along_one_axis(_PIECES)


def _prune(found: Sequence[Candidate]) -> list[Candidate]:
    """Candidates that nothing beats, the fastest of each engine, fastest first."""
    order = sorted(found, key=lambda c: (c.cost.cycles, c.cost.bytes_in_l1, c.form, c.size, c.two_copies))
    kept: list[Candidate] = []
    taken: dict[str, int] = {}
    for candidate in order:
        if taken.get(candidate.engine, 0) >= MOST_PER_ENGINE:
            continue
        if not any(_beats(other.cost, candidate.cost) for other in kept):
            kept.append(candidate)
            taken[candidate.engine] = taken.get(candidate.engine, 0) + 1
    return kept


def _beats(a: LayerCost, b: LayerCost) -> bool:
    """Tell if `a` is as good as `b` in everything."""
    if a.compute > b.compute or a.cycles > b.cycles or a.bytes_in_l1 > b.bytes_in_l1 or a.constants > b.constants:
        return False
    streams = zip((*a.inputs, *a.outputs), (*b.inputs, *b.outputs), strict=True)
    return all(_no_worse(x, y) for x, y in streams)


def _no_worse(a: Stream, b: Stream) -> bool:
    return (a.fits or not b.fits) and a.bytes <= b.bytes and a.cycles <= b.cycles and a.exposed <= b.exposed
