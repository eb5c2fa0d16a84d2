"""Which activations can stay in L1 between layers, and which constants that several layers read.

A tensor can stay where its tiles are contiguous: a tile is then simply a part of the whole tensor's buffer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.uma.recipe import Load, Recipe

# A constant that several layers read and that is larger than this is not copied into their bundles.
SHARED_BYTES = 1024


@dataclass
class Uses:
    """Who makes an activation, and which layers could read it in L1."""

    producer: int | None = None
    producer_fits: bool = True
    readers: set[int] = field(default_factory=set)

    @property
    def candidates(self) -> set[int]:
        """Readers that could take it from L1 because it is made there."""
        return self.readers if self.producer_fits else set()


@dataclass(frozen=True)
class TouchedTensors:
    """Tensors that the tiles of a layer load or store, and could read, or write, as parts of the whole."""

    readable: frozenset[Tensor]
    writable: frozenset[Tensor]


def touched_by(recipes: Sequence[Recipe]) -> TouchedTensors:
    """The tensors that tiles of a layer touch."""
    moves = [move for recipe in recipes for move in (*recipe.loads, *recipe.stores)]
    tensors = frozenset(m.tensor.storage for m in moves)
    loads, stores = set[Tensor](), set[Tensor]()
    for move in moves:
        if move.offset is None or (isinstance(move, Load) and move.pitch):
            (loads if isinstance(move, Load) else stores).add(move.tensor.storage)
    return TouchedTensors(tensors - loads, tensors - stores)


def find_uses(network: Network, touched: Sequence[TouchedTensors]) -> dict[Tensor, Uses]:
    """Uses of every activation, input and output, and of large constants in L2; `touched` tells of each layer.

    Steps that work on a tensor where it lies need it in L2.
    """
    found: dict[Tensor, Uses] = {}
    for index, (layer, mine) in enumerate(zip(network.layers, touched, strict=True)):
        for tensor in layer.inputs:
            if tensor.storage.kind != "constant":
                uses = found.setdefault(tensor.storage, Uses())
                if tensor.storage in mine.readable:
                    uses.readers.add(index)
        for tensor in layer.outputs:
            uses = found.setdefault(tensor.storage, Uses())
            uses.producer, uses.producer_fits = index, tensor.storage in mine.writable
    return found | _shared_constants(touched)


def _shared_constants(touched: Sequence[TouchedTensors]) -> dict[Tensor, Uses]:
    """Constants that travel alone and more than once: weights of the steps of a recurrent layer."""
    found: dict[Tensor, Uses] = {}
    for index, mine in enumerate(touched):
        for tensor in mine.readable:
            if tensor.kind == "constant" and tensor.level == "l2" and tensor.spec.bytes > SHARED_BYTES:
                found.setdefault(tensor, Uses()).readers.add(index)
    return {tensor: uses for tensor, uses in found.items() if len(uses.readers) > 1}
