"""Boxes that are one run of bytes: such a tile is simply a part of the whole tensor's buffer."""

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.box import Box, Transfer, shifted, transfers

# Kernels and engines expect operands at words.
WORD = 4


def tensor_transfers(tensor: Tensor, box: Box) -> tuple[Transfer, ...]:
    """Fewest commands that move a box of a tensor; places are those in its storage."""
    size = tensor.spec.itemsize
    return shifted(transfers(box, tensor.spec.shape, size), tensor.first * size)


def box_bytes(tensor: Tensor, box: Box) -> int:
    """Bytes of a box of a tensor."""
    return box.elements * tensor.spec.itemsize


def contiguous_offset(tensor: Tensor, box: Box) -> int | None:
    """Byte offset of a box that is one run of whole words, else None."""
    if box.elements == 0:
        return None
    moved = tensor_transfers(tensor, box)
    if len(moved) != 1 or moved[0].is_2d or moved[0].external % WORD:
        return None
    return moved[0].external
