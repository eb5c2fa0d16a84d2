"""Packed weights, read back bit by bit with the formulas of the hardware description."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvm_pulp.errors import UserError
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.packing import pack_weights

from .packed_size import packed_weight_bytes


def weight_at(packed: np.ndarray, mode: Mode, bits: int, c_in: int, ko: int, c: int, tap: int) -> int:
    """Collect the bits of one weight."""
    value = 0
    for plane in range(bits):
        if mode is Mode.POINTWISE:
            beat = ko * -(-c_in // 32) + c // 32
            position = 32 * ((c % 32) // 4) + 4 * plane + c % 4
        else:
            group = c // 28 if mode is Mode.DEPTHWISE_3X3 else ko * -(-c_in // 28) + c // 28
            beat = group * bits + plane
            position = tap * 28 + c % 28
        value |= (int(packed[32 * beat + position // 8]) >> position % 8 & 1) << plane
    return value


@given(
    mode=st.sampled_from((Mode.POINTWISE, Mode.DENSE_3X3, Mode.DEPTHWISE_3X3)),
    bits=st.integers(2, 8),
    c_in=st.integers(1, 70),
    c_out=st.integers(1, 40),
    data=st.data(),
)
def test_every_bit_is_in_its_place(mode: Mode, bits: int, c_in: int, c_out: int, data: st.DataObject) -> None:
    """Unpacking gives the weights back, and the size is the predicted one."""
    if mode is Mode.DEPTHWISE_3X3:
        c_out = c_in
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    offset = -(1 << (bits - 1))
    shape = (c_out, 1 if mode is Mode.DEPTHWISE_3X3 else c_in, mode.kernel, mode.kernel)
    weight = random.integers(offset, -offset, shape)
    packed = pack_weights(weight, mode, bits, offset)
    assert packed.size == packed_weight_bytes(mode, c_in, c_out, bits)
    for _ in range(30):
        ko, c, tap = int(random.integers(c_out)), int(random.integers(shape[1])), int(random.integers(mode.kernel**2))
        channel = ko if mode is Mode.DEPTHWISE_3X3 else c
        expected = int(weight[ko, c, tap // mode.kernel, tap % mode.kernel])
        assert weight_at(packed, mode, bits, c_in, ko, channel, tap) + offset == expected
    # No stray bits: the number of ones is that of the weights.
    assert int(np.unpackbits(packed).sum()) == int(sum(((weight - offset) >> p & 1).sum() for p in range(bits)))


def test_output_channel_slices_are_contiguous() -> None:
    """A slice of output channels of a dense layer is a byte range of the whole."""
    weight = np.random.default_rng(0).integers(-8, 8, (40, 60, 3, 3))
    whole = pack_weights(weight, Mode.DENSE_3X3, 4, -8)
    part = pack_weights(weight[13:29], Mode.DENSE_3X3, 4, -8)
    stride = 32 * 4 * 3
    np.testing.assert_array_equal(whole[13 * stride : 29 * stride], part)


@pytest.mark.parametrize(("value", "bits", "offset"), [(8, 4, -8), (-9, 4, -8), (256, 8, 0)])
def test_weights_that_do_not_fit(value: int, bits: int, offset: int) -> None:
    """The message names range, bits and offset."""
    with pytest.raises(UserError, match=f"do not fit {bits} bits above the offset {offset}"):
        pack_weights(np.full((1, 1, 1, 1), value), Mode.POINTWISE, bits, offset)
