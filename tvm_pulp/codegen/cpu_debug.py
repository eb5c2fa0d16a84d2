"""Checks of a debug build for a CPU: the result of every layer before the next one, and bytes between buffers.

A step is a layer. Pointers of the caller are the arena, inputs and outputs.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from tvm_pulp.codegen.debug_source import GUARD_BYTES, INPUT, Check, content_of, guard_of, in_order
from tvm_pulp.codegen.reference_values import reference_values, value_of
from tvm_pulp.planning.tiling.place.arena import Arena
from tvm_pulp.qnn.network import Network, Tensor

_ARENA = 1


def cpu_debug_checks(network: Network, arena: Arena, inputs: Sequence[np.ndarray]) -> list[Check]:
    """All checks in order."""
    ends = [t.storage for t in (*network.inputs, *network.outputs)]
    bases = {tensor: _ARENA + 1 + ends.index(tensor) for tensor in ends}
    values = reference_values(network, inputs)
    found = [
        content_of(value, 0, "", f"input {tensor.source}", 0, bases[tensor.storage], INPUT)
        for tensor in network.inputs
        if (value := values.get(tensor.storage)) is not None and value.size
    ]
    for number, layer in enumerate(network.layers):
        for tensor in layer.outputs:
            value, storage = value_of(values, tensor), tensor.storage
            if value is None or not value.size:
                continue
            base = bases.get(storage, _ARENA)
            offset = arena.offsets[storage] if base == _ARENA else 0
            found.append(content_of(value, number + 1, layer.name, f"output {storage.name}", offset, base))
    names = [layer.name for layer in network.layers]
    return in_order([*found, *_guards(names, arena)], names)


def _guards(layers: Sequence[str], arena: Arena) -> Iterator[Check]:
    """Bytes behind every buffer of the arena, from its first use to its last."""
    for buffer in arena.buffers:
        assert isinstance(buffer.key, Tensor)
        behind = arena.offsets[buffer.key] + buffer.size - GUARD_BYTES
        yield from guard_of(layers[buffer.first], buffer.key.name, behind, _ARENA, buffer.first, buffer.last + 1)
