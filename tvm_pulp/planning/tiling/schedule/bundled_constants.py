"""Constants that travel in bundles: those that one layer alone reads, and small ones, of which readers have copies."""

from collections import Counter
from collections.abc import Sequence

from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.residency import SHARED_BYTES
from tvm_pulp.qnn.network import Tensor


class BundledConstants:
    """The constants of a network, by the layers that load them."""

    def __init__(self, choices: Sequence[Choice], policy: Policy) -> None:
        self._users = Counter(tensor for choice in choices for tensor in choice.loaded)
        self._level = policy.level

    def __contains__(self, tensor: Tensor) -> bool:
        storage = tensor.storage
        if storage.kind != "constant" or self._level(storage) != "l2":
            return False
        return self._users[storage] == 1 or storage.spec.bytes <= SHARED_BYTES
