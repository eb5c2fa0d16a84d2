"""Pass: from layers to tiles.

Expects cuts and residency. Every layer becomes its tiles in order: what a tile loads and stores, halo and borders
included, in the commands that this takes, and the blocks of L1 that hold it. A box that the tile before loaded stays;
what is resident comes and goes as a whole. Constants that travel in bundles are left to `bundle`:

    max_pool x -> y         becomes
    load x0, 80 bytes of x; call; store y0, 32 bytes of y; load x0.1, 80 bytes of x; call; store y0.1, 32 bytes of y

Guarantees that the program is correct in the order of its tiles; blocks have sizes, and no addresses or lifetimes.
"""

from collections.abc import Sequence

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.tiling.forms.cuts import MissingL1
from tvm_pulp.planning.tiling.schedule.bundled_constants import bundled_constants
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.program import Block, Move, Place, Program, TiledLayer
from tvm_pulp.planning.tiling.schedule.split_transfers import split_transfers
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.uma.box import Box, Transfer, pitched_transfers
from tvm_pulp.uma.contiguous import box_bytes
from tvm_pulp.uma.recipe import Load, Store

# A box of what begins at an element of a tensor.
_Piece = tuple[Tensor, int, Box]


def tile(network: Network, choices: Sequence[Choice], policy: Policy, l1_bytes: int) -> Program:
    """The program of a network in tiles."""
    read = ((tensor.storage, index) for index, layer in enumerate(network.layers) for tensor in layer.inputs)
    readers = grouped((t, index) for t, index in read if index not in policy.resident.get(t, ()))
    program = Program(network, choices, policy, l1_bytes, readers, bundled_constants(choices, policy))
    tiler = _Tiler(program)
    program.layers = [tiler.layer(index, choice) for index, choice in enumerate(choices)]
    return program


class _Tiler:
    def __init__(self, program: Program) -> None:
        self._program, self._network, self._policy = program, program.network, program.policy
        self._outputs = {t.storage for t in program.network.outputs}
        self._commands = 0

    def layer(self, index: int, choice: Choice) -> TiledLayer:
        """The tiles of a layer."""
        layer = TiledLayer(index)
        live: dict[_Piece, tuple[int, Block]] = {}
        bundled = self._program.bundled
        for number, recipe in enumerate(choice.recipes):
            inside = [load for load in recipe.loads if load.local.inside is not None]
            for load in recipe.loads:
                if load.tensor.storage in bundled or load.local in layer.places or load.local.inside is not None:
                    continue
                self._load(layer, number, load, live)
            for store in recipe.stores:
                if store.local not in layer.places:
                    layer.places[store.local] = self._result(layer, store)
            for load in inside:
                self._load_inside(layer, number, load)
            for local in recipe.locals:
                if local not in layer.places and local not in recipe.moved:
                    layer.places[local] = Place(layer.block(local.name, local.bytes))
        for number, recipe in enumerate(choice.recipes):
            for store in recipe.stores:
                self._store(layer, number, store)
        return layer

    def _split(self, layer: TiledLayer, moved: Sequence[Transfer]) -> tuple[Transfer, ...]:
        limits = self._policy.commands
        split = split_transfers(moved, limits)
        self._commands += len(split)
        if limits.most is not None and self._commands > limits.most:
            # Tiles so small are no way out: a larger L1 is.
            l1_bytes = self._program.l1_bytes
            raise MissingL1(self._network.layers[layer.index], 2 * l1_bytes, l1_bytes)
        return split

    def _load(self, layer: TiledLayer, number: int, load: Load, live: dict[_Piece, tuple[int, Block]]) -> None:
        storage = load.tensor.storage
        if layer.index in self._policy.resident.get(storage, ()):
            block = self._program.resident.get(storage) or self._bring(layer, number, load)
            layer.places[load.local] = _part_of(block, load)
            return
        key = (storage, load.tensor.first, load.box)
        if key in live and live[key][0] >= number - 1:
            block = live[key][1]
            block.bytes = max(block.bytes, load.local.bytes)
        else:
            block = layer.block(load.local.name, load.local.bytes)
            moved = self._split(layer, load.transfers) if load.box.elements else ()
            layer.loads.append(Move(layer.index, number, False, load.tensor, moved, Place(block), load, load.local))
        live[key] = (number, block)
        layer.places[load.local] = Place(block)

    def _bring(self, layer: TiledLayer, number: int, load: Load) -> Block:
        """A network input, a constant, or an activation that left L1, comes whole."""
        storage = load.tensor.storage
        size = storage.spec.bytes
        block = layer.block(storage.name, size)
        whole = self._split(layer, [Transfer(0, 0, size, size, size)]) if size else ()
        layer.loads.append(Move(layer.index, number, False, storage, whole, Place(block), load))
        self._program.resident[storage] = block
        return block

    def _load_inside(self, layer: TiledLayer, number: int, load: Load) -> None:
        """An operand that is brought to where it belongs in the result."""
        offset, row_bytes = load.offset, box_bytes(load.tensor, load.box) // load.rows
        assert load.local.inside is not None and offset is not None and load.tensor.storage.kind == "input"
        place = layer.places[load.local] = layer.places[load.local.inside]
        moved = self._split(layer, pitched_transfers(offset, load.rows, row_bytes, load.pitch))
        layer.loads.append(Move(layer.index, number, False, load.tensor, moved, place, load, load.local))

    def _result(self, layer: TiledLayer, store: Store) -> Place:
        storage, resident = store.tensor.storage, self._program.resident
        if not self._policy.resident.get(storage):
            return Place(layer.block(store.local.name, store.local.bytes))
        if storage not in resident:
            resident[storage] = layer.block(storage.name, storage.spec.bytes)
        return _part_of(resident[storage], store)

    def _store(self, layer: TiledLayer, number: int, store: Store) -> None:
        storage = store.tensor.storage
        wanted = storage in self._outputs or storage.kind == "output" or self._program.later_readers(storage, layer)
        if wanted and store.box.elements:
            moved, place = self._split(layer, store.transfers), layer.places[store.local]
            layer.stores.append(Move(layer.index, number, True, store.tensor, moved, place, store, store.local))


def _part_of(block: Block, step: Load | Store) -> Place:
    """The place of a tile's buffer in the block that holds all of its tensor."""
    assert step.offset is not None
    block.bytes = max(block.bytes, step.offset + step.local.bytes)
    return Place(block, step.offset)
