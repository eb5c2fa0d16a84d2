"""The first layers of a network in strips, those choices first that compute least twice."""

from collections.abc import Iterator, Mapping

from tvm_pulp.planning.cpu.plan import CpuPlan
from tvm_pulp.planning.cpu.strips import Stage, stages
from tvm_pulp.planning.program.cpu_plan_record import Strips
from tvm_pulp.planning.tiling.place.in_place import buffers, overwritten
from tvm_pulp.planning.tiling.place.placer import Buffer, largest_live_set
from tvm_pulp.qnn.network import Layer, Network, Tensor

_COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
# Of those that seem to fit so many are made, and of the smallest where none does: places take some bytes more.
_MADE = 3


def strip_choices(plan: CpuPlan, room: int) -> Iterator[Strips]:
    """Strips with which a plan may fit into so many bytes of activations, the cheapest first.

    Where none seems to fit, the smallest, the smallest first.
    """
    network = plan.whole
    whole = {layer.stated: layer for layer in plan.layers}
    priced: list[tuple[int, int, Stage]] = []
    for stage in stages(network):
        once = sum(layer.macs for layer in stage.layers)
        counts = {n for n in (*_COUNTS, stage.rows) if 1 < n <= stage.rows}
        priced += [(stage.macs(n) - once, n, stage) for n in sorted(counts) if stage.fits(n)]
    smallest, found = list[tuple[int, int, Strips]](), 0
    for order, (_, count, stage) in enumerate(sorted(priced, key=lambda choice: choice[:2])):
        made, parts = stage.in_strips(count)
        of = {layer: whole[parts.get(layer, layer)] for layer in made.layers}
        may_overwrite = {layer: other.call.overwrites for layer, other in of.items() if other.call is not None}
        estimate = _estimate(made, {layer: other.called for layer, other in of.items()}, may_overwrite, room)
        strips = Strips(network.layers[stage.first].name, network.layers[stage.last].name, count)
        if estimate <= room:
            yield strips
            found += 1
            if found == _MADE:
                return
        smallest = sorted([*smallest, (estimate, order, strips)], key=lambda choice: choice[:2])[:_MADE]
    if not found:
        yield from (strips for _, _, strips in smallest)


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
