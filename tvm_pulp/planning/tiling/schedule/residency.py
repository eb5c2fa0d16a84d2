"""Which activations can stay in L1 between layers.

A tensor can stay where its tiles are contiguous: a tile is then simply a part of the whole tensor's buffer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.uma.contiguous import contiguous_offset
from tvm_pulp.uma.recipe import Load, Recipe, Store


@dataclass
class Uses:
    """Who makes and who reads an activation, by layer, and which of them could work on it in L1."""

    producer: int | None = None
    producer_fits: bool = False
    readers: dict[int, bool] = field(default_factory=dict)

    def candidates(self) -> list[int]:
        """Readers that could take it from L1."""
        if self.producer is not None and not self.producer_fits:
            return []
        return [layer for layer, fits in self.readers.items() if fits]


@dataclass(frozen=True)
class Touched:
    """Activations that the tiles of a layer load or store, and those of which some tile is not contiguous."""

    tensors: frozenset[Tensor]
    scattered_loads: tuple[Tensor, ...]
    scattered_stores: tuple[Tensor, ...]


def touched_by(recipes: Sequence[Recipe]) -> Touched:
    """The tensors that tiles of a layer touch."""
    tensors: set[Tensor] = set()
    # Ordered, unlike sets: plans are the same every time.
    loads: dict[Tensor, None] = {}
    stores: dict[Tensor, None] = {}
    for recipe in recipes:
        for step in recipe.steps:
            if isinstance(step, Load) and step.tensor.storage.kind != "constant":
                tensors.add(step.tensor.storage)
                if step.pitch or contiguous_offset(step.tensor, step.box) is None:
                    loads.setdefault(step.tensor.storage)
            elif isinstance(step, Store):
                tensors.add(step.tensor.storage)
                if contiguous_offset(step.tensor, step.box) is None:
                    stores.setdefault(step.tensor.storage)
    return Touched(frozenset(tensors), tuple(loads), tuple(stores))


def find_uses(network: Network, touched: Sequence[Touched]) -> dict[Tensor, Uses]:
    """Uses of every activation, input and output; `touched` tells of each layer."""
    found: dict[Tensor, Uses] = {}

    def uses(tensor: Tensor) -> Uses:
        return found.setdefault(tensor.storage, Uses())

    for index, layer in enumerate(network.layers):
        for tensor in layer.inputs:
            if tensor.storage.kind != "constant":
                uses(tensor).readers[index] = True
        for tensor in layer.outputs:
            entry = uses(tensor)
            entry.producer, entry.producer_fits = index, True
        mine = touched[index]
        for tensor in mine.scattered_loads:
            uses(tensor).readers[index] = False
        for tensor in mine.scattered_stores:
            uses(tensor).producer_fits = False
        # Steps that work on a tensor where it lies need it in L2.
        for tensor in layer.inputs:
            if tensor.storage in found and tensor.storage not in mine.tensors:
                found[tensor.storage].readers[index] = False
        for tensor in layer.outputs:
            if tensor.storage not in mine.tensors:
                found[tensor.storage].producer_fits = False
    return found
