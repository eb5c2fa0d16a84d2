"""Packing of weights into bit planes without gaps, as the array reads them."""

import numpy as np
from numpy.typing import NDArray

from tvm_pulp.errors import UserError
from uma_backends.ne16.geometry import INPUT_BYTES, Mode, subtiles

# Channels of a group are packed sixteen at a time, eight where activations have 16 bits.


def group_channels(input_bits: int = 8) -> int:
    """Input channels whose weights lie together."""
    return INPUT_BYTES * 8 // input_bits


def channel_bytes(mode: Mode, input_channels: int, weight_bits: int, input_bits: int = 8) -> int:
    """Return the bytes of one output channel's filter (depthwise: of a group of channels)."""
    if mode is Mode.LINEAR:
        return weight_bits * input_channels // 8
    group = group_channels(input_bits)
    groups = 1 if mode is Mode.DEPTHWISE_3X3 else subtiles(input_channels, group)
    return groups * weight_bits * mode.taps * group // 8


def pack_weights(
    weight: NDArray[np.integer], mode: Mode, weight_bits: int = 8, weight_offset: int = -128, input_bits: int = 8
) -> NDArray[np.uint8]:
    """Return the packed bytes of an OIHW weight tensor (depthwise: C×1×3×3).

    The array multiplies unsigned numbers, so `weight - weight_offset` must fit `weight_bits`.
    """
    unsigned = weight.astype(np.int64) - weight_offset
    if unsigned.size and (unsigned.min() < 0 or unsigned.max() >= 1 << weight_bits):
        raise UserError(
            f"NE16 weights {weight.min()} to {weight.max()} do not fit {weight_bits} bits above the offset "
            f"{weight_offset}, use more bits or another offset."
        )
    values = unsigned.astype(np.uint8)
    planes = np.arange(weight_bits, dtype=np.uint8)
    if mode is Mode.LINEAR:
        # Output channel, plane, channel.
        bits = values.reshape(len(values), 1, -1) >> planes.reshape(1, -1, 1) & np.uint8(1)
        return np.packbits(bits, axis=-1, bitorder="little").reshape(-1)
    # A depthwise tensor is one filter whose input channels are the tensor's channels.
    outputs = 1 if mode is Mode.DEPTHWISE_3X3 else len(values)
    filters, group = values.reshape(outputs, -1, mode.taps), group_channels(input_bits)
    groups = subtiles(filters.shape[1], group)
    padded = np.zeros((outputs, groups * group, mode.taps), np.uint8)
    padded[:, : filters.shape[1]] = filters
    # Output channel, group, plane, tap, channel.
    by_tap = padded.reshape(outputs, groups, 1, group, mode.taps).swapaxes(3, 4)
    bits = by_tap >> planes.reshape(1, 1, -1, 1, 1) & np.uint8(1)
    return np.packbits(bits, axis=-1, bitorder="little").reshape(-1)
