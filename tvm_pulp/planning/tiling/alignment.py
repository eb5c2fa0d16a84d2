"""Alignment of buffers: bytes to whose multiples sizes and offsets are rounded up."""

# Tensors in L2, and buffers in L1: engines and the DMA move whole beats.
ALIGNMENT = 16
L1_ALIGNMENT = 16


def aligned(size: int, alignment: int = ALIGNMENT) -> int:
    """The size, rounded up."""
    return -(-size // alignment) * alignment
