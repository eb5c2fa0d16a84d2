"""A network that no memory of the SoC can hold is refused before it is planned."""

from typing import Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.soc.platform import Platform


def check_smallest_size(network: Network, soc: Any, l2_bytes: int, with_engines: bool) -> None:
    """Raise where the constants alone, however an engine packs them, exceed all memories together.

    Weight memories are for engines: without one they hold nothing.
    """
    levels = {"l2": l2_bytes, **Platform(soc).constant_levels()}
    if not with_engines:
        levels = {name: size for name, size in levels.items() if name not in soc.software.weight_parts}
    room = sum(levels.values())
    constants = network.constants()
    if sum(t.spec.bytes for t in constants) <= room:
        return
    needed = sum(_least_bytes(tensor) for tensor in constants)
    if needed > room:
        largest = max(constants, key=lambda t: t.spec.bytes)
        parts = ", ".join(f"{name} {size}" for name, size in levels.items() if size)
        raise UserError(
            f"the network's constants take at least {needed} bytes and SoC {soc.name} holds {room} ({parts}); the "
            f"largest is '{largest.name}' with {largest.spec.bytes}: use fewer channels, layers or bits per weight"
        )


def _least_bytes(tensor: Tensor) -> int:
    """Bytes of the values if every one takes no more bits than the widest."""
    if tensor.data is None or tensor.data.dtype.kind not in "iu" or not tensor.data.size:
        return tensor.spec.bytes
    low, high = int(tensor.data.min()), int(tensor.data.max())
    bits = max((-low - 1).bit_length() if low < 0 else 0, high.bit_length()) + (low < 0)
    return int(np.ceil(tensor.data.size * max(1, bits) / 8))
