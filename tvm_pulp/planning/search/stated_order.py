"""Dependencies of layers: on those whose results they read, and on those that a user stated to run before them."""

from collections.abc import Sequence
from itertools import pairwise

from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.forms import LayerForms
from tvm_pulp.qnn.network import Layer, Tensor


def dependencies(layers: Sequence[Layer], order: Sequence[str] = ()) -> list[set[int]]:
    """Layers that have to run before each one. `order`: names of layers that run in this order."""
    producer: dict[Tensor, int] = {}
    needed: list[set[int]] = []
    for index, layer in enumerate(layers):
        needed.append({producer[t.storage] for t in layer.inputs if t.storage in producer})
        for tensor in layer.outputs:
            producer[tensor.storage] = index
    place = {part.name: index for index, layer in enumerate(layers) for part in (layer, *layer.parts)}
    stated = [place[name] for name in order]
    for before, after in pairwise(stated):
        if before != after:
            needed[after].add(before)
    return needed


def in_stated_order(layers: Sequence[LayerForms], order: Sequence[str]) -> list[LayerForms]:
    """Layers in an order that keeps to the stated one, otherwise as they were."""
    if not order:
        return list(layers)
    needed = dependencies([entry.layer for entry in layers], order)
    left, done = list(range(len(layers))), list[int]()
    while left:
        ready = next((index for index in left if needed[index] <= set(done)), None)
        if ready is None:
            name = next(n for n in order if any(n == layers[i].layer.name for i in left))
            raise UserError(
                f"--decide: layer '{name}' cannot run where the order says: a later one makes what it needs"
            )
        left.remove(ready)
        done.append(ready)
    return [layers[index] for index in done]
