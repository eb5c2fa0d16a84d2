"""Constants of a layer, laid out so that one DMA command brings them: records, descriptors, weights, vectors."""

from collections import Counter
from collections.abc import Callable, Sequence

from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.planning.tiling.schedule.residency import SHARED_BYTES
from tvm_pulp.planning.tiling.schedule.schedule import Block, Bundle, Move, Piece, Place
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Load, Local, Recipe

PIECE_ALIGNMENT = 16
# Words of a step record without its commands: see struct tvm_pulp_step; and the most that a command takes.
RECORD_WORDS = 6
AGENTS = 4
COMMAND_WORDS = 3
_LINES_WORDS = 5
_GROUP_WORDS = 1
_SUBMIT_WORDS = 3
_FETCH_WORDS = 4
# Records and descriptors of one bundle are smaller than this.
_MOST_RECORDS = 0x8000


def record_bytes(moves: Sequence[Move], limits: CommandLimits, *, job: bool, fetches: int = 0) -> int:
    """Room for one record that issues these moves and fetches, at most."""
    words = RECORD_WORDS + (_SUBMIT_WORDS if job else 0) + min(AGENTS, len(moves) + job + fetches)
    words += _FETCH_WORDS * fetches
    for move in moves:
        words += _GROUP_WORDS
        if isinstance(move.source, Bundle):
            most = sum(p.bytes + PIECE_ALIGNMENT for p in move.source.pieces) + _MOST_RECORDS
            words += COMMAND_WORDS * (1 + most // (limits.largest or most + 1))
        else:
            words += sum(
                _LINES_WORDS if t.is_2d or move.source.storage.apart else COMMAND_WORDS for t in move.transfers
            )
    return 4 * words


class BundleBuilder:
    """Makes bundles and remembers what they hold. `layers`: the recipes of each."""

    def __init__(self, loaded: Sequence[Sequence[Tensor]], level: Callable[[Tensor], str]) -> None:
        self._users, self._level = Counter(tensor for layer in loaded for tensor in layer), level
        self.made: list[Bundle] = []
        self._locals: dict[Bundle, list[tuple[Local, Place, dict[Local, Place]]]] = {}
        self._keys: dict[Bundle, dict[tuple[Tensor, Box], int]] = {}

    def new(self, layer: int) -> Bundle:
        bundle = Bundle(len(self.made), layer)
        self.made.append(bundle)
        self._keys[bundle] = {}
        self._locals[bundle] = []
        return bundle

    def bundled(self, tensor: Tensor) -> bool:
        """Tell if parts of a constant are copied into bundles."""
        storage = tensor.storage
        if storage.kind != "constant" or self._level(storage) != "l2":
            return False
        return self._users[storage] == 1 or storage.spec.bytes <= SHARED_BYTES

    def divide(self, recipes: Sequence[Recipe]) -> tuple[list[Load], list[list[Load]]]:
        """Loads of constants that all tiles share, and per tile of those that change."""
        tiles = [[load for load in r.loads if self.bundled(load.tensor)] for r in recipes]
        if len(tiles) == 1:
            return tiles[0], [[]]
        common = set.intersection(*({_part(load) for load in tile} for tile in tiles)) if tiles else set()
        shared = [load for tile in tiles for load in tile if _part(load) in common]
        return shared, [[load for load in tile if _part(load) not in common] for tile in tiles]

    def place(self, bundle: Bundle, block: Block, loads: Sequence[Load], places: dict[Local, Place]) -> None:
        """Give the loads' buffers a place in the bundle; equal parts share one. Offsets get final in `finish`."""
        keys, locals_ = self._keys[bundle], self._locals[bundle]
        for load in loads:
            part = _part(load)
            number = keys.get(part)
            if number is None:
                number = keys[part] = len(bundle.pieces)
                bundle.pieces.append(Piece(load.tensor, load.box, 0))
            # The number of the piece, until offsets are known.
            place = places[load.local] = Place(block, number)
            locals_.append((load.local, place, places))

    def finish(self, bundle: Bundle, record_room: int) -> None:
        """Lay the bundle out: records, descriptors, parts of tensors."""
        bundle.record_bytes = position = record_room
        for slot, size in bundle.descriptors.items():
            bundle.descriptors[slot] = position
            position += size
        for number, piece in enumerate(bundle.pieces):
            offset = aligned(position, PIECE_ALIGNMENT)
            bundle.pieces[number] = Piece(piece.tensor, piece.box, offset)
            position = offset + piece.bytes
        bundle.bytes = reach = aligned(position, 4)
        for local, place, places in self._locals[bundle]:
            offset = bundle.pieces[place.offset].offset
            places[local] = Place(place.block, offset)
            reach = max(reach, offset + local.bytes)
        bundle.slack = reach - bundle.bytes


def _part(load: Load) -> tuple[Tensor, Box]:
    return load.tensor.storage, load.box
