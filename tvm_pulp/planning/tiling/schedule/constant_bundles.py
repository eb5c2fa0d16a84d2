"""Constants of a layer, laid out so that one DMA command brings them: records, descriptors, weights, vectors."""

from collections import Counter
from collections.abc import Callable, Sequence

from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.planning.tiling.schedule.schedule import Block, Bundle, Move, Piece, Place
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Local, Recipe

PIECE_ALIGNMENT = 16
# Words of a step record without its commands: see struct tvm_pulp_step; and the most that a command takes.
RECORD_WORDS = 6
AGENTS = 4
_COMMAND_WORDS = 3
_LINES_WORDS = 5
_GROUP_WORDS = 1
_SUBMIT_WORDS = 3
_FETCH_WORDS = 4
# A constant that several layers read and that is larger than this is not copied into bundles.
_SHARED_BYTES = 1024
# Records and descriptors of one bundle are smaller than this.
_MOST_RECORDS = 0x8000

ConstantLoad = tuple[Tensor, Box, Local]


def descriptor_bytes(recipes: Sequence[Recipe]) -> int:
    """Bytes that records and descriptors of a layer take, about."""
    steps = [s for r in recipes for s in r.steps if isinstance(s, Kernel | Call | Job)]
    moves = 3 * len(recipes)
    return 4 * (sum(s.words + RECORD_WORDS + AGENTS for s in steps) + moves * 8)


def record_bytes(moves: Sequence[Move], limits: CommandLimits, *, job: bool, fetches: int = 0) -> int:
    """Room for one record that issues these moves and fetches, at most."""
    words = RECORD_WORDS + (_SUBMIT_WORDS if job else 0) + min(AGENTS, len(moves) + job + fetches)
    words += _FETCH_WORDS * fetches
    for move in moves:
        words += _GROUP_WORDS
        if isinstance(move.source, Bundle):
            pieces = sum(piece_bytes(p) + PIECE_ALIGNMENT for p in move.source.pieces)
            most = pieces + _MOST_RECORDS
            words += _COMMAND_WORDS * (1 + most // (limits.largest or most + 1))
        else:
            words += sum(_LINES_WORDS if t.is_2d else _COMMAND_WORDS for t in move.transfers)
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
        return self._users[storage] == 1 or storage.spec.bytes <= _SHARED_BYTES

    def divide(self, recipes: Sequence[Recipe]) -> tuple[list[ConstantLoad], list[list[ConstantLoad]]]:
        """Constants that all tiles share, and per tile those that change."""
        keys: list[list[tuple[tuple[Tensor, Box], ConstantLoad]]] = []
        for recipe in recipes:
            loads = [s for s in recipe.steps if isinstance(s, Load) and self.bundled(s.tensor)]
            keys.append([((s.tensor.storage, s.box), (s.tensor, s.box, s.local)) for s in loads])
        common = set.intersection(*({k for k, _ in tile} for tile in keys)) if keys else set()
        shared = [load for tile in keys for k, load in tile if k in common]
        return shared, [[load for k, load in tile if k not in common] for tile in keys]

    def place(self, bundle: Bundle, block: Block, loads: Sequence[ConstantLoad], places: dict[Local, Place]) -> None:
        """Give the loads' buffers a place in the bundle; equal parts share one. Offsets get final in `finish`."""
        keys = self._keys[bundle]
        for tensor, box, local in loads:
            key = (tensor.storage, box)
            if key not in keys:
                keys[key] = len(bundle.pieces)
                bundle.pieces.append(Piece(tensor, box, 0))
            place = Place(block, keys[key])  # the number of the piece, until offsets are known
            places[local] = place
            self._locals[bundle].append((local, place, places))

    def describe(self, bundle: Bundle, slot: int, step: Kernel | Call | Job) -> None:
        """Room for a step's descriptor."""
        bundle.descriptors[slot] = 4 * step.words

    def finish(self, bundle: Bundle, record_room: int) -> None:
        """Lay the bundle out: records, descriptors, parts of tensors."""
        bundle.record_bytes = record_room
        position = record_room
        for slot, size in bundle.descriptors.items():
            bundle.descriptors[slot] = position
            position += size
        offsets, pieces = [], []
        for piece in bundle.pieces:
            position = aligned(position, PIECE_ALIGNMENT)
            offsets.append(position)
            pieces.append(Piece(piece.tensor, piece.box, position))
            position += piece_bytes(piece)
        bundle.pieces[:] = pieces
        bundle.bytes = reach = aligned(position, 4)
        for local, place, places in self._locals[bundle]:
            offset = offsets[place.offset]
            places[local] = Place(place.block, offset)
            reach = max(reach, offset + local.bytes)
        bundle.slack = reach - bundle.bytes


def piece_bytes(piece: Piece) -> int:
    """Bytes of the part of a constant."""
    spec = piece.tensor.spec
    return piece.box.elements * spec.bytes // max(1, spec.elements)
