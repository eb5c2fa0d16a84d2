"""The greedy tiler: as few tiles as L1 allows, single buffering.

It is the baseline and the fallback of better planners.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, reduce
from itertools import product
from typing import Any, TypeVar

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.planning.tiling.cost.dma_cost import dma_cycles
from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.box import Box, split_axis, tiles
from tvm_pulp.uma.recipe import Load, Recipe, Store, descriptor_words
from tvm_pulp.uma.strategy import Form, TileAxis

_SEARCH_LIMIT = 20000
# Of axes that a form does not name: behind all that it does.
_NO_RANK = 9

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Tiling:
    """A form cut into tiles of at most `size`."""

    form: Form
    size: tuple[int, ...]
    l1_bytes: int
    cycles: int  # compute and data movement, nothing overlapped
    tiles: tuple[Box, ...]
    recipe: Callable[[Box], Recipe] = field(compare=False, repr=False)  # the form's, which may remember some
    finer: bool = False  # than the engine likes its pieces
    _remembered: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        """How every tile is computed."""
        return tuple(map(self.recipe, self.tiles))

    def remember(self, question: object, answer: Callable[[], _Answer]) -> _Answer:
        """The answer to a question about its tiles, found once for all who ask the same."""
        if question not in self._remembered:
            self._remembered[question] = answer()
        found: _Answer = self._remembered[question]
        return found


def footprint(recipe: Recipe) -> int:
    """L1 bytes of a recipe: descriptors and buffers, every one aligned."""
    descriptors = aligned(4 * descriptor_words(recipe.steps), L1_ALIGNMENT)
    return descriptors + sum(aligned(b.bytes, L1_ALIGNMENT) for b in recipe.locals)


def _sizes(extent: int, step: int, limit: int | None) -> list[int]:
    """Piece sizes worth trying along one axis, large to small: equal cuts, rounded up to the step."""
    found: list[int] = []
    count = 1 if limit is None else -(-extent // limit)
    while True:
        size = -(-extent // count)
        size = min(extent, -(-size // step) * step)
        if not found or size < found[-1]:
            found.append(size)
        if size <= step:
            return found
        count = max(count + 1, count * 5 // 4)


def _representative(extent: int, piece: int) -> list[tuple[int, int, int]]:
    """Pieces of an axis that stand for all: start, size, and how many there are of the kind."""
    pieces = split_axis(extent, piece)
    if len(pieces) <= 4:
        return [(start, size, 1) for start, size in pieces]
    # Borders and halos differ at both ends; where padding spans several pieces, the middle is like none of them.
    middle = len(pieces) // 2
    return [(*pieces[0], 1), (*pieces[1], 1), (*pieces[middle], len(pieces) - 3), (*pieces[-1], 1)]


def _kinds(shape: Sequence[int], size: Sequence[int]) -> list[tuple[Box, int]]:
    """Tiles that stand for all, with how many there are of each; inner ones, which are the largest, first."""
    axes = [_representative(e, s)[::-1] for e, s in zip(shape, size, strict=True)]
    inner = [axis[min(1, len(axis) - 1) :] + axis[: min(1, len(axis) - 1)] for axis in axes]
    return [
        (Box(tuple(c[0] for c in chosen), tuple(c[1] for c in chosen)), math.prod(c[2] for c in chosen))
        for chosen in product(*inner)
    ]


def _candidates(shape: Sequence[int], axes: Sequence[TileAxis]) -> list[tuple[int, ...]]:
    """Tile sizes, fewest tiles first; among equally many tiles those that cut the favoured axes."""
    choices = {a.axis: _sizes(shape[a.axis], a.step, a.limit) for a in axes if shape[a.axis] > 1}
    lists = [choices.get(i, [extent]) for i, extent in enumerate(shape)]
    while math.prod(map(len, lists)) > _SEARCH_LIMIT:
        longest = max(lists, key=len)
        longest[:] = [*longest[:-1:2], longest[-1]]
    ranks = {a.axis: rank for rank, a in enumerate(axes)}
    counts = [np.array([-(-extent // size) for size in sizes]) for extent, sizes in zip(shape, lists, strict=True)]
    tiles_of = reduce(np.multiply.outer, counts, np.array(1)).ravel()
    costs = [ranks.get(axis, _NO_RANK) * (count > 1) for axis, count in enumerate(counts)]
    ranks_of = reduce(np.add.outer, costs, np.array(0)).ravel()
    sizes_of = list(product(*lists))
    return [sizes_of[i] for i in np.lexsort((ranks_of, tiles_of))]


class Cuts:
    """All cuts of a form, fewest tiles first; what is found out about a cut is remembered.

    `pattern`: what the form's engine calls what it runs here; the cores call it after the operator. `stated`: the only
    cut, where a user states one.
    """

    def __init__(
        self, form: Form, layer: Layer, costs: CostModel, pattern: str = "", stated: tuple[int, ...] | None = None
    ) -> None:
        self.form, self.pattern = form, pattern or layer.operator
        self._layer, self._shape, self.costs, self.stated = layer, layer.outputs[0].spec.shape, costs, stated
        self.recipe = cache(form.recipe)
        self.measure = cache(self._measure)
        self._lower_bound = cache(self._smallest_footprint)

    def only(self, size: tuple[int, ...]) -> "Cuts":
        """The form with this cut alone."""
        return Cuts(self.form, self._layer, self.costs, self.pattern, size)

    @cached_property
    def axes(self) -> tuple[TileAxis, ...]:
        """The axes along which a search may cut; none where the cut is stated."""
        return self.form.axes() if self.stated is None else ()

    @property
    def whole(self) -> Recipe:
        """How the layer is computed without a cut."""
        return self.recipe(Box.whole(self._shape))

    @cached_property
    def _sizes(self) -> list[tuple[int, ...]]:
        """All sizes that are tried; smaller pieces than an engine likes come after all others."""
        if self.stated is not None:
            return [self.stated]
        axes = self.axes
        sizes = _candidates(self._shape, axes)
        if not any(a.least for a in axes):
            return sizes
        finer = [replace(a, step=a.least) if a.least else a for a in axes]
        return list(dict.fromkeys((*sizes, *_candidates(self._shape, finer))))

    def within(self, l1_bytes: int) -> Tiling | int:
        """The first cut that fits, or the bytes that the smallest needs."""
        smallest: tuple[int, tuple[int, ...]] | None = None
        for size in self._sizes:
            needed = self._lower_bound(size)
            if needed <= l1_bytes:
                tiling = self.measure(size)
                if tiling.l1_bytes <= l1_bytes:
                    return tiling
                needed = tiling.l1_bytes
            if smallest is None or needed < smallest[0]:
                smallest = (needed, size)
        assert smallest is not None
        return self.measure(smallest[1]).l1_bytes

    def _smallest_footprint(self, size: tuple[int, ...]) -> int:
        """Bytes that a cut needs at least: those of one of its tiles."""
        return footprint(self.recipe(_kinds(self._shape, size)[0][0]))

    def along_one_axis(self, pieces: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Cuts of a single axis into about so many pieces, the others as wide as allowed; favoured axes first."""
        axes = self.axes
        widest = list(self._shape)
        for axis in axes:
            if self._shape[axis.axis] > 1:
                widest[axis.axis] = _sizes(self._shape[axis.axis], axis.step, axis.limit)[0]
        for axis in axes:
            for count in pieces:
                size = aligned(-(-self._shape[axis.axis] // count), axis.step)
                if size < widest[axis.axis]:
                    yield (*widest[: axis.axis], size, *widest[axis.axis + 1 :])

    def _measure(self, size: tuple[int, ...]) -> Tiling:
        form, shape = self.form, self._shape
        cycles = needed = 0
        known: dict[tuple[int, ...], int] = {}
        for box, count in _kinds(shape, size):
            recipe = self.recipe(box)
            needed = max(needed, footprint(recipe))
            # Tiles of one size cost the same but for their borders.
            if box.size not in known:
                moves: tuple[Load | Store, ...] = (*recipe.loads, *recipe.stores)
                known[box.size] = recipe.cycles + sum(dma_cycles(move, self.costs) for move in moves)
            cycles += count * known[box.size]
        finer = any(a.least and size[a.axis] < shape[a.axis] and size[a.axis] % a.step > 0 for a in form.axes())
        return Tiling(form, size, needed, cycles, tuple(tiles(shape, size)), self.recipe, finer)


class MissingL1(UserError):
    """A layer whose smallest tile does not fit."""

    def __init__(self, layer: Layer, needed: int, l1_bytes: int) -> None:
        self.layer, self.needed, self.l1_bytes = layer, needed, l1_bytes
        super().__init__(
            f"layer '{layer.name}' ({layer.operator}) needs {needed} bytes of L1 for its smallest tile and {l1_bytes} "
            f"are available ({needed - l1_bytes} missing): raise --l1 to at least {needed}"
        )
