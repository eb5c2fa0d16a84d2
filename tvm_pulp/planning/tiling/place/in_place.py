"""Results that take the place of an operand: sums, and convolutions whose rows are read before they are written."""

from collections.abc import Mapping

from tvm_pulp.planning.tiling.place.placer import Buffer, largest_live_set
from tvm_pulp.qnn.network import Layer, Network, Tensor


def overwritten(network: Network, may: Mapping[Layer, tuple[int, ...]]) -> dict[Tensor, Tensor]:
    """Results with the tensor whose bytes each takes, where that one is not needed any more.

    `may`: operands that a layer can overwrite. What would make the largest set alive at once larger is left out: a
    small result keeps all of a large operand.
    """
    places: dict[Tensor, Tensor] = {}
    alive = network.lifetimes()
    largest = largest_live_set(buffers(alive, places))
    for index, layer in enumerate(network.layers):
        result = layer.outputs[0]
        for number in may.get(layer, ()):
            operand = layer.inputs[number].storage
            if operand.kind != "activation" or result.kind != "activation" or result.view_of is not None:
                continue
            # A piece from the middle of a tensor lies elsewhere than a result that takes the tensor's place.
            if any(t.storage is operand and t.first for t in layer.inputs):
                continue
            root = places.get(operand, operand)
            ends = max(alive[t][1] for t in (root, *(t for t, place in places.items() if place is root)))
            if ends > index or result.spec.bytes > root.spec.bytes or result.spec.dtype != root.spec.dtype:
                continue
            tried = {**places, result: root}
            if (bytes_alive := largest_live_set(buffers(alive, tried))) <= largest:
                places, largest = tried, bytes_alive
                break
    return places


def buffers(alive: Mapping[Tensor, tuple[int, int]], places: Mapping[Tensor, Tensor]) -> list[Buffer]:
    """A buffer for every tensor that has bytes of its own, from the first to the last use of these."""
    uses: dict[Tensor, tuple[int, int]] = {}
    for tensor, (first, last) in alive.items():
        root = places.get(tensor, tensor)
        known = uses.get(root, (first, last))
        uses[root] = (min(first, known[0]), max(last, known[1]))
    return [Buffer(tensor, tensor.spec.bytes, *ends) for tensor, ends in uses.items()]
