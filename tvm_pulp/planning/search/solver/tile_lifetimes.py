"""How many bytes the buffers of a layer's tiles take at once, following the positions that `prefetch` gives them.

A few tiles tell it for all: after those the pattern repeats.
"""

from collections.abc import Iterator, Sequence

from tvm_pulp.planning.program.positions import compute_position, load_position, next_slot, store_position
from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.planning.tiling.place.placer import Buffer, largest_live_set
from tvm_pulp.planning.tiling.schedule.choice import ordered
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Job, Load, Local, Recipe, Store, operands_of

_TILES = 6


class TileLifetimes:
    """Most bytes alive at once, by tensor. `two_copies`: of what streams; `pipelined`: anything overlaps at all."""

    def __init__(self, recipes: Sequence[Recipe], *, two_copies: bool, pipelined: bool) -> None:
        self._recipes = [*recipes[: _TILES - 1], recipes[-1]] if len(recipes) > _TILES else list(recipes)
        self._two_copies = two_copies
        self._uses: dict[Local, list[int]] = {}
        self._first: list[int] = [0] * len(self._recipes)
        for slot, (tile, step) in reversed(list(enumerate(ordered(self._recipes, two_copies)))):
            self._first[tile] = slot
            end = compute_position(slot + 1 if pipelined and isinstance(step, Job) else slot)
            for operand in operands_of(step):
                if isinstance(operand, Local):
                    first, last = self._uses.get(operand, [slot, 0])
                    self._uses[operand] = [min(first, slot), max(last, end)]

    def loads(self, storage: Tensor) -> int:
        """Of an input's tiles."""
        found: list[Buffer] = []
        before: dict[Box, Buffer] = {}
        for tile, recipe in enumerate(self._recipes):
            here: dict[Box, Buffer] = {}
            for step in self._moves(recipe, storage, Load):
                first, last = self._span(step.local, tile)
                if step.box in before or step.box in here:
                    earlier = here.get(step.box) or before[step.box]
                    found = [b for b in found if b is not earlier]
                    made = Buffer(tile, max(earlier.size, self._size(step.local)), earlier.first, last)
                else:
                    made = Buffer(tile, self._size(step.local), self._arrival(first, tile), last)
                here[step.box] = made
                found.append(made)
            before = here
        return largest_live_set(found)

    def stores(self, storage: Tensor) -> int:
        """Of an output's tiles."""
        found = []
        for tile, recipe in enumerate(self._recipes):
            for step in self._moves(recipe, storage, Store):
                first, last = self._span(step.local, tile)
                after = next_slot(last) + 1
                end = compute_position(after) if self._two_copies else store_position(after)
                found.append(Buffer(tile, self._size(step.local), compute_position(first), max(last, end)))
        return largest_live_set(found)

    def intermediates(self) -> int:
        """Of everything that is neither loaded nor stored."""
        found = []
        for tile, recipe in enumerate(self._recipes):
            moved = {s.local for s in recipe.steps if isinstance(s, Load | Store)}
            for local in recipe.locals:
                if local not in moved:
                    first, last = self._span(local, tile)
                    found.append(Buffer(tile, self._size(local), compute_position(first), last))
        return largest_live_set(found)

    def _moves(self, recipe: Recipe, storage: Tensor, kind: type[Load] | type[Store]) -> Iterator[Load | Store]:
        for step in recipe.steps:
            if isinstance(step, kind) and step.tensor.storage is storage and step.local.inside is None:
                yield step

    def _size(self, local: Local) -> int:
        return aligned(local.bytes, L1_ALIGNMENT)

    def _span(self, local: Local, tile: int) -> tuple[int, int]:
        """Slot of the first use, position of the last."""
        first, last = self._uses.get(local, (self._first[tile], compute_position(self._first[tile])))
        return first, last

    def _arrival(self, slot: int, tile: int) -> int:
        if tile and self._two_copies:
            return compute_position(min(self._first[tile - 1], slot - 1))
        return load_position(slot)
