"""Constants that travel in bundles: those that one layer alone reads, and small ones, of which readers have copies."""

from collections import Counter
from collections.abc import Sequence

from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.residency import SHARED_BYTES
from tvm_pulp.qnn.network import Tensor


def bundled_constants(choices: Sequence[Choice], policy: Policy) -> frozenset[Tensor]:
    """The constants of layers that travel in bundles: they lie in L2."""
    readers = Counter(tensor for choice in choices for tensor in choice.loaded)
    return frozenset(
        tensor
        for tensor, count in readers.items()
        if (count == 1 or tensor.spec.bytes <= SHARED_BYTES) and policy.level(tensor) == "l2"
    )
