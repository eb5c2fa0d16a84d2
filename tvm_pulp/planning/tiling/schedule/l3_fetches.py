"""Constants and caches that live in L3: when each is fetched to L2."""

from collections.abc import Iterable
from itertools import groupby

from tvm_pulp.planning.program.positions import BOOT
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.program import Fetch
from tvm_pulp.qnn.network import Tensor


def l3_fetches(uses: Iterable[tuple[int, int, Tensor]], policy: Policy) -> list[Fetch]:
    """Fetches from L3, each while the one before is taken to L1.

    The I/O DMA tells only when it has nothing left to do, so a batch is issued at once and waited for as one.
    `uses`: position and layer of every step, or transfer, that reads a tensor in L2.
    """
    first: dict[Tensor, tuple[int, int]] = {}
    for position, layer, tensor in sorted(uses, key=lambda use: use[0]):
        if policy.level(tensor) == "l3":
            first.setdefault(tensor.storage, (max(position, 0), layer))
    found = []
    before, first_use, batch = BOOT, BOOT, 0
    for position, wanted in groupby(first.items(), key=lambda entry: entry[1][0]):
        if batch == 0 or batch >= policy.l3_batch:
            before, first_use, batch = first_use, position, 0
        for tensor, (_, layer) in wanted:
            found.append(Fetch(before, tensor, layer))
            batch += tensor.spec.bytes
    return found
