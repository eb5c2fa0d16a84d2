"""Pass: constants, step records and descriptors that travel to L1 together.

Expects tiles (`tile`) in the order of their steps (`interleave`). What all tiles of a layer read comes in one bundle,
with the records and descriptors of its steps as long as these are small; what changes from tile to tile comes in a
bundle for each. Small layers share the bundle of those before, where that is wanted:

    call 0 (weights w, bias b); call 1 (w, b)         becomes
    load bundle_0 (descriptors of 0 and 1, w, b); call 0; call 1

Guarantees that every step has its record and descriptor in a page, and every constant that is not moved by itself a
place in a bundle; offsets follow when it is known what each step issues (`lay_out`).
"""

from collections.abc import Sequence

from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.program import Block, Bundle, Move, Piece, Place, Program, TiledLayer
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.contiguous import box_bytes
from tvm_pulp.uma.recipe import Load, Recipe

# Records and descriptors of a layer travel together unless they would take more than this part of L1.
PAGE_SHARE = 12


def bundle(program: Program) -> Program:
    """The program with bundles."""
    bundler = _Bundler(program)
    for layer, choice in zip(program.layers, program.choices, strict=True):
        bundler.layer(layer, choice)
    program.bundles = tuple(bundler.made)
    program.pages = tuple(bundler.page_of[slot] for slot in range(len(program.order.all)))
    return program


class _Bundler:
    def __init__(self, program: Program) -> None:
        self._steps, self._l1_bytes = program.order, program.l1_bytes
        self._bundled, self._shared_bytes = program.bundled, program.policy.bundle_bytes
        self.made: list[Bundle] = []
        self.page_of: dict[int, Bundle] = {}
        # What the next layer's constants may join, and the bytes it holds about.
        self._open: tuple[Bundle, Block, int] | None = None

    def layer(self, layer: TiledLayer, choice: Choice) -> None:
        """One bundle for what all tiles share, one per tile for what changes; records with the first or apart."""
        slots = sorted(s for t in range(len(choice.recipes)) for s in self._steps.slots(layer.index, t))
        small = PAGE_SHARE * choice.pages * choice.descriptor_bytes <= self._l1_bytes
        shared, changing = self._divide(choice.recipes)
        if shared or small:
            size = sum(box_bytes(load.tensor, load.box) for load in shared)
            common, block = self._common(layer, slots[0], size + choice.descriptor_bytes)
            block.slots.append(slots[-1])
            _hold(layer, common, block, shared)
            if small:
                self._make_page(common, block, slots)
        if not small:
            self._pages(layer, choice, slots)
        carried: tuple[tuple[object, ...], Bundle, Block] | None = None
        known: dict[tuple[object, ...], Bundle] = {}
        for tile, loads in enumerate(changing):
            if not loads:
                continue
            mine = self._steps.slots(layer.index, tile)
            key = tuple(map(_part, loads))
            if carried is not None and carried[0] == key:
                _, bundle, block = carried
            else:
                bundle = known[key] if key in known else self._new(layer)
                known[key] = bundle
                block = _load(layer, tile, bundle, mine[0])
            block.slots.append(mine[-1])
            _hold(layer, bundle, block, loads)
            carried = (key, bundle, block)

    def _divide(self, recipes: Sequence[Recipe]) -> tuple[list[Load], list[list[Load]]]:
        """Loads of constants that all tiles share, and per tile of those that change."""
        tiles = [[load for load in r.loads if load.tensor.storage in self._bundled] for r in recipes]
        if len(tiles) == 1:
            return tiles[0], [[]]
        common = set.intersection(*({_part(load) for load in tile} for tile in tiles)) if tiles else set()
        shared = [load for tile in tiles for load in tile if _part(load) in common]
        return shared, [[load for load in tile if _part(load) not in common] for tile in tiles]

    def _new(self, layer: TiledLayer) -> Bundle:
        made = Bundle(len(self.made), layer.index)
        self.made.append(made)
        return made

    def _common(self, layer: TiledLayer, slot: int, size: int) -> tuple[Bundle, Block]:
        """The bundle of what a layer's tiles share: that of the layers before, as long as it stays small."""
        if self._open is not None and self._open[2] + size <= self._shared_bytes:
            made, block, known = self._open
        else:
            made, known = self._new(layer), 0
            block = _load(layer, 0, made, slot)
        self._open = (made, block, known + size)
        return made, block

    def _pages(self, layer: TiledLayer, choice: Choice, slots: Sequence[int]) -> None:
        """Records and descriptors of many steps: as few bundles as their share of L1 allows."""
        count = min(len(slots), -(-PAGE_SHARE * choice.pages * choice.descriptor_bytes // self._l1_bytes))
        for number in range(count):
            mine = slots[number * len(slots) // count : (number + 1) * len(slots) // count]
            page = self._new(layer)
            block = _load(layer, self._steps.all[mine[0]].tile, page, mine[0])
            block.slots.append(mine[-1])
            self._make_page(page, block, mine)

    def _make_page(self, page: Bundle, block: Block, slots: Sequence[int]) -> None:
        block.tells_until = max(block.tells_until, slots[-1])
        for slot in slots:
            # Room for the descriptor; its offset follows when the bundle is laid out.
            page.descriptors[slot] = 4 * self._steps.all[slot].step.words
            self.page_of[slot] = page


def _load(layer: TiledLayer, tile: int, bundle: Bundle, slot: int) -> Block:
    """The block that a bundle is loaded to, for a slot and those behind it."""
    block = Block(bundle.name, 0, layer=layer.index)
    layer.bundle_blocks.append(block)
    layer.bundle_loads.append(Move(layer.index, tile, False, bundle, (), Place(block), slot=slot))
    return block


def _hold(layer: TiledLayer, bundle: Bundle, block: Block, loads: Sequence[Load]) -> None:
    """Give the loads' buffers a place in the bundle; equal parts share one."""
    for load in loads:
        part = _part(load)
        number = bundle.numbers.get(part)
        if number is None:
            number = bundle.numbers[part] = len(bundle.pieces)
            bundle.pieces.append(Piece(load.tensor, load.box, 0))
        bundle.held.append((layer.places, load.local, block, number))


def _part(load: Load) -> tuple[Tensor, Box]:
    return load.tensor.storage, load.box
