"""Packing of weights into the bit-plane beats the array streams."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uma_backends.conv_array.packing import bit_planes, unsigned_weights
from uma_backends.neureka.geometry import SIRACUSA, Geometry, Mode, subtiles

TAPS = 9
# Entry points of a model share their weights, and plans are made again after partitioning: bytes that are remembered.
_MOST_BYTES = 1 << 24
_PACKED: dict[tuple[Any, ...], NDArray[np.uint8]] = {}


def pack_weights(
    weight: NDArray[np.integer],
    mode: Mode,
    weight_bits: int = 8,
    weight_offset: int = -128,
    geometry: Geometry = SIRACUSA,
) -> NDArray[np.uint8]:
    """Return the packed bytes of an OIHW weight tensor (depthwise: C×1×3×3), which nobody may change.

    The array multiplies unsigned numbers, so `weight - weight_offset` must fit `weight_bits`.
    """
    content = hashlib.blake2b(weight.tobytes(), digest_size=16).digest()
    key = (content, weight.shape, weight.dtype, mode, weight_bits, weight_offset, geometry)
    if key not in _PACKED:
        if sum(packed.nbytes for packed in _PACKED.values()) > _MOST_BYTES:
            _PACKED.clear()
        _PACKED[key] = _pack(weight, mode, weight_bits, weight_offset, geometry)
        _PACKED[key].flags.writeable = False
    return _PACKED[key]


def _pack(
    weight: NDArray[Any], mode: Mode, weight_bits: int, weight_offset: int, geometry: Geometry
) -> NDArray[np.uint8]:
    values = unsigned_weights("NEUREKA", weight, weight_bits, weight_offset)
    if mode is Mode.POINTWISE:
        return _pack_pointwise(values.reshape(values.shape[:2]), geometry)
    return _to_beats(bit_planes(values, mode, geometry.channels_3x3, weight_bits), geometry)


def _pack_pointwise(values: NDArray[np.uint8], geometry: Geometry) -> NDArray[np.uint8]:
    """Pack groups of four channels, eight planes each, into one beat per output channel and subtile."""
    width = geometry.channels_1x1
    groups = subtiles(values.shape[1], width)
    padded = np.zeros((values.shape[0], groups * width), np.uint8)
    padded[:, : values.shape[1]] = values
    bits = np.unpackbits(padded, axis=1, bitorder="little").reshape(-1, 4, 8).swapaxes(1, 2)
    return _to_beats(bits.reshape(-1, 8 * width), geometry)


def _to_beats(bits: NDArray[np.uint8], geometry: Geometry) -> NDArray[np.uint8]:
    """Turn rows of bits into whole beats, least significant bit first."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    beats = np.zeros((packed.shape[0], geometry.weight_beat_bytes), np.uint8)
    beats[:, : packed.shape[1]] = packed
    return beats.reshape(-1)
