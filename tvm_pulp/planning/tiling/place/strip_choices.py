"""Networks with their first layers in strips, those first that compute least twice."""

from collections.abc import Iterator, Mapping

from tvm_pulp.planning.lowering import Stage, stages
from tvm_pulp.planning.tiling.place.in_place import buffers, overwritten
from tvm_pulp.planning.tiling.place.placer import Buffer, largest_live_set
from tvm_pulp.qnn.network import Layer, Network, Tensor

_COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
# Of those that seem to fit so many are made, and of the smallest where none does: places take some bytes more.
_MADE = 3


def strip_choices(
    network: Network, called: Network, may_overwrite: Mapping[Layer, tuple[int, ...]], room: int
) -> Iterator[Network]:
    """Forms that may fit into so many bytes of activations, the cheapest first; else the smallest, the smallest first.

    `called`: the same layers with the memory that their functions work in, and what these can overwrite.
    """
    whole = dict(zip(network.layers, called.layers, strict=True))
    priced: list[tuple[int, int, Stage]] = []
    for stage in stages(network):
        once = sum(layer.macs for layer in stage.layers)
        counts = {n for n in (*_COUNTS, stage.rows) if 1 < n <= stage.rows}
        priced += [(stage.macs(n) - once, n, stage) for n in sorted(counts) if stage.fits(n)]
    smallest, found = list[tuple[int, int, Network]](), 0
    for order, (_, count, stage) in enumerate(sorted(priced, key=lambda choice: choice[:2])):
        made, parts = stage.in_strips(count)
        of = {layer: whole[parts.get(layer, layer)] for layer in made.layers}
        estimate = _estimate(made, of, {layer: may_overwrite[other] for layer, other in of.items()}, room)
        if estimate <= room:
            yield made
            found += 1
            if found == _MADE:
                return
        smallest = sorted([*smallest, (estimate, order, made)], key=lambda choice: choice[:2])[:_MADE]
    if not found:
        yield from (made for _, _, made in smallest)


def _estimate(
    made: Network, of: Mapping[Layer, Layer], may_overwrite: Mapping[Layer, tuple[int, ...]], room: int
) -> int:
    """Bytes alive at once, with the memory that the layers' functions work in; what fits may take fewer."""
    work = [
        Buffer(index, sum(t.spec.bytes for t in of[layer].workspaces), index, index)
        for index, layer in enumerate(made.layers)
    ]
    alive, places = made.lifetimes(), dict[Tensor, Tensor]()
    apart = largest_live_set([*buffers(alive, places), *work])
    if apart <= room:
        return apart
    return largest_live_set([*buffers(alive, overwritten(made, may_overwrite)), *work])
