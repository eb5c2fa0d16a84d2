"""Packing of weights into bit planes without gaps, as the array reads them."""

import numpy as np
from numpy.typing import NDArray

from uma_backends.conv_array.packing import bit_planes, unsigned_weights
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
    values = unsigned_weights("NE16", weight, weight_bits, weight_offset)
    if mode is Mode.LINEAR:
        # Output channel, plane, channel.
        planes = np.arange(weight_bits, dtype=np.uint8).reshape(1, -1, 1)
        bits = values.reshape(len(values), 1, -1) >> planes & np.uint8(1)
    else:
        bits = bit_planes(values, mode, group_channels(input_bits), weight_bits)
    return np.packbits(bits, axis=-1, bitorder="little").reshape(-1)
