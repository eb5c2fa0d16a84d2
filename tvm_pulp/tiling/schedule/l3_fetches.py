"""Constants that live in L3: when each is fetched to L2."""

from __future__ import annotations

from collections.abc import Sequence

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.tiling.schedule.schedule import BOOT, Fetch, Move


def l3_fetches(moves: Sequence[Move], batch_bytes: int) -> list[Fetch]:
    """What comes from L3: fetched while what was fetched before is taken to L1.

    The I/O DMA tells only when it has nothing left to do, so a batch is issued at once and waited for as one.
    """
    wanted: dict[int, list[Tensor]] = {}
    owner: dict[Tensor, int] = {}
    for move in moves:
        if isinstance(move.source, Tensor) and move.source.storage.level == "l3" and move.source.storage not in owner:
            owner[move.source.storage] = move.layer
            wanted.setdefault(max(move.position, 0), []).append(move.source.storage)
    found = []
    before, first_use, batch = BOOT, BOOT, 0
    for position, tensors in sorted(wanted.items()):
        if batch == 0 or batch >= batch_bytes:
            before, first_use, batch = first_use, position, 0
        for tensor in tensors:
            found.append(Fetch(before, tensor, owner[tensor]))
            batch += tensor.spec.bytes
    return found
