"""Bits of packed weights as arrays of convolutions read them: the taps of a group of channels, plane by plane."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvm_pulp.errors import UserError
from uma_backends.conv_array.modes import Mode, subtiles


def unsigned_weights(array: str, weight: NDArray[Any], bits: int, offset: int) -> NDArray[np.uint8]:
    """Return what an array multiplies: `weight - offset`, which must fit `bits`."""
    unsigned = weight.astype(np.int64) - offset
    if unsigned.size and (unsigned.min() < 0 or unsigned.max() >= 1 << bits):
        raise UserError(
            f"{array} weights {weight.min()} to {weight.max()} do not fit {bits} bits above the offset "
            f"{offset}, use more bits or another offset."
        )
    return unsigned.astype(np.uint8)


def bit_planes(values: NDArray[np.uint8], mode: Mode, group: int, bits: int) -> NDArray[np.uint8]:
    """Return the bits of OIHW weights (depthwise: C×1×3×3), a row for every output channel, group and plane."""
    # A depthwise tensor is one filter whose input channels are the tensor's channels.
    outputs = 1 if mode is Mode.DEPTHWISE_3X3 else len(values)
    filters = values.reshape(outputs, -1, mode.taps)
    groups = subtiles(filters.shape[1], group)
    padded = np.zeros((outputs, groups * group, mode.taps), np.uint8)
    padded[:, : filters.shape[1]] = filters
    by_tap = padded.reshape(outputs, groups, 1, group, mode.taps).swapaxes(3, 4)
    planes = np.arange(bits, dtype=np.uint8).reshape(1, 1, -1, 1, 1)
    return (by_tap >> planes & np.uint8(1)).reshape(-1, mode.taps * group)
