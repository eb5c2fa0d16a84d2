"""Constants and caches that live in L3: when each is fetched to L2."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Fetch, Move
from tvm_pulp.planning.tiling.schedule.tiled_layer import Policy
from tvm_pulp.qnn.network import Tensor


@dataclass(frozen=True)
class DirectUse:
    """A step, or a transfer, of a layer that reads a tensor in L2."""

    position: int
    layer: int
    tensor: Tensor


def l3_fetches(moves: Sequence[Move], direct: Sequence[DirectUse], policy: Policy) -> list[Fetch]:
    """Fetches from L3, each while the one before is taken to L1.

    The I/O DMA tells only when it has nothing left to do, so a batch is issued at once and waited for as one.
    """
    wanted: dict[int, list[Tensor]] = {}
    owner: dict[Tensor, int] = {}
    uses = [DirectUse(m.position, m.layer, m.source) for m in moves if isinstance(m.source, Tensor)]
    for use in sorted((*uses, *direct), key=lambda u: u.position):
        if policy.level(use.tensor) == "l3" and use.tensor.storage not in owner:
            owner[use.tensor.storage] = use.layer
            wanted.setdefault(max(use.position, 0), []).append(use.tensor.storage)
    found = []
    before, first_use, batch = BOOT, BOOT, 0
    for position, tensors in sorted(wanted.items()):
        if batch == 0 or batch >= policy.l3_batch:
            before, first_use, batch = first_use, position, 0
        for tensor in tensors:
            found.append(Fetch(before, tensor, owner[tensor]))
            batch += tensor.spec.bytes
    return found
