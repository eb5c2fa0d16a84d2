"""The greedy tiler: as few tiles as L1 allows, single buffering.

It is the baseline and the fallback of better planners.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Layer
from tvm_pulp.tiling.arena import aligned
from tvm_pulp.tiling.dma_cost import recipe_dma_cycles
from tvm_pulp.uma.box import Box, split_axis, tiles
from tvm_pulp.uma.recipe import Recipe, descriptor_words
from tvm_pulp.uma.strategy import Form, TileAxis

L1_ALIGNMENT = 16
_SEARCH_LIMIT = 20000


@dataclass(frozen=True)
class Tiling:
    """A form cut into tiles of at most `size`."""

    form: Form
    size: tuple[int, ...]
    l1_bytes: int
    cycles: int  # compute and data movement, nothing overlapped
    tiles: tuple[Box, ...]


def footprint(recipe: Recipe) -> int:
    """L1 bytes of a recipe: descriptors and buffers, every one aligned."""
    descriptors = aligned(4 * descriptor_words(recipe.steps), L1_ALIGNMENT)
    return descriptors + sum(aligned(b.bytes, L1_ALIGNMENT) for b in recipe.locals())


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


def _largest(form: Form, shape: Sequence[int], size: Sequence[int]) -> int:
    """Largest footprint over first, second and last tiles of each axis: borders and halos differ."""
    parts = []
    for extent, piece in zip(shape, size, strict=True):
        pieces = split_axis(extent, piece)
        parts.append(list(dict.fromkeys([pieces[0], pieces[min(1, len(pieces) - 1)], pieces[-1]])))
    return max(
        footprint(form.recipe(Box(tuple(p[0] for p in chosen), tuple(p[1] for p in chosen))))
        for chosen in product(*parts)
    )


def _candidates(shape: Sequence[int], axes: Sequence[TileAxis]) -> Iterator[tuple[int, ...]]:
    """Tile sizes, fewest tiles first."""
    choices = {a.axis: _sizes(shape[a.axis], a.step, a.limit) for a in axes if shape[a.axis] > 1}
    lists = [choices.get(i, [extent]) for i, extent in enumerate(shape)]
    while _product(lists) > _SEARCH_LIMIT:
        longest = max(lists, key=len)
        longest[:] = [*longest[:-1:2], longest[-1]]
    order = {a.axis: rank for rank, a in enumerate(axes)}

    def count(size: tuple[int, ...]) -> tuple[int, ...]:
        cuts = [-(-e // s) for e, s in zip(shape, size, strict=True)]
        total = 1
        for c in cuts:
            total *= c
        # Among equally many tiles prefer cutting the favoured axes.
        return (total, sum(order.get(i, 9) * (c > 1) for i, c in enumerate(cuts)))

    yield from sorted(product(*lists), key=count)


def _product(lists: Sequence[Sequence[int]]) -> int:
    total = 1
    for entry in lists:
        total *= len(entry)
    return total


class Cuts:
    """All cuts of a form, fewest tiles first; what is found out about a cut is remembered."""

    def __init__(self, form: Form, layer: Layer) -> None:
        self._form, self._shape = form, layer.outputs[0].spec.shape
        self._sizes = list(_candidates(self._shape, form.axes()))
        self._needed: dict[tuple[int, ...], int] = {}
        self._measured: dict[tuple[int, ...], Tiling] = {}

    def within(self, l1_bytes: int) -> Tiling | int:
        """The first cut that fits, or the bytes that the smallest needs."""
        smallest: tuple[int, tuple[int, ...]] | None = None
        for size in self._sizes:
            needed = self._largest(size)
            if needed <= l1_bytes:
                # Where padding spans several tiles, the largest one is neither at the border nor next to it.
                tiling = self.measure(size)
                if tiling.l1_bytes <= l1_bytes:
                    return tiling
                needed = tiling.l1_bytes
            if smallest is None or needed < smallest[0]:
                smallest = (needed, size)
        assert smallest is not None
        return self.measure(smallest[1]).l1_bytes

    def measure(self, size: tuple[int, ...]) -> Tiling:
        if size not in self._measured:
            self._measured[size] = _measure(self._form, self._shape, size)
        return self._measured[size]

    def _largest(self, size: tuple[int, ...]) -> int:
        if size not in self._needed:
            self._needed[size] = _largest(self._form, self._shape, size)
        return self._needed[size]


def tile_form(form: Form, layer: Layer, l1_bytes: int) -> Tiling | int:
    """The form cut to fit, or the bytes its smallest cut needs."""
    return Cuts(form, layer).within(l1_bytes)


def _measure(form: Form, shape: Sequence[int], size: tuple[int, ...]) -> Tiling:
    boxes = tuple(tiles(shape, size))
    cycles = needed = 0
    known: dict[tuple[int, ...], int] = {}
    for box in boxes:
        recipe = form.recipe(box)
        needed = max(needed, footprint(recipe))
        # Tiles of one size cost the same but for their borders.
        if box.size not in known:
            known[box.size] = recipe.cycles + recipe_dma_cycles(recipe)
        cycles += known[box.size]
    return Tiling(form, size, needed, cycles, boxes)


def missing_l1(layer: Layer, needed: int, l1_bytes: int) -> UserError:
    """A layer whose smallest tile does not fit."""
    return UserError(
        f"layer '{layer.name}' ({layer.operator}) needs {needed} bytes of L1 for its smallest tile and {l1_bytes} are "
        f"available ({needed - l1_bytes} missing): raise --l1 to at least {needed}"
    )
