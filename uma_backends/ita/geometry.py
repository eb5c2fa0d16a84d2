"""Sizes of ITA and what follows from them."""

TILE = 64  # rows, inner length and columns of one job
GROUP = 16  # logits that the streaming softmax takes at a time
TILE_BYTES = TILE * TILE
BIAS_BYTES = 3 * TILE
BIAS_OVERREAD = 32  # bytes that the bias streamer fetches behind a vector
MOST_TILES = 15  # of a dimension, in one field of the register TILES
MOST_CONTEXTS = 4  # jobs that the queue holds
LONGEST_INNER = MOST_TILES * TILE
UNUSED_TILES = MOST_TILES  # in fields that a layer does not use: no sum of a later one is taken for that long
BIAS_BITS = 24
ACCUMULATOR_BITS = 26
LARGEST_MULTIPLIER = 255
PRODUCT_BITS = 35  # of a sum and a multiplier
LARGEST_SHIFT = 33  # shifts of 36 and more lose the rounding bit, 34 and 35 were never tried on the hardware's sources
# Moves of [1, positions, heads, size]: heads first, and heads first with positions last.
SWAP, TRANSPOSE = [0, 2, 1, 3], [0, 2, 3, 1]


def tiles(extent: int) -> int:
    """Tiles that cover an extent."""
    return -(-extent // TILE)


def padded(extent: int) -> int:
    return tiles(extent) * TILE
