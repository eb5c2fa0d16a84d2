"""Tables of exponentials and logits by which kernels compute `i_softmax` and the attention around it."""

import numpy as np

from tvm_pulp.qnn.softmax_i import PolynomialAttributes, exponential

_ENTRIES = 256


def exponentials(attributes: PolynomialAttributes) -> np.ndarray:
    """Entry 255 - d is 1 + (levels - 1) * the exponential of the distance d to the maximum, whatever its size."""
    found = exponential(attributes, 255 - np.arange(_ENTRIES, dtype=np.int64))
    return np.asarray(1 + (int(attributes.levels) - 1) * found)


def small_exponential_table(table: np.ndarray, levels: int, keys: int) -> np.ndarray | None:
    """A table of `exponentials` shifted up so that the largest has 16 bits, or None.

    None where a sum of `keys` exponentials or the division by it would not be exact in the kernel's arithmetic.
    """
    values = (table.astype(np.int64) - 1) // (levels - 1)
    largest = int(values.max())
    if largest != values[-1] or not 1 <= largest < 1 << 16:
        return None
    shift = 16 - largest.bit_length()
    scaled = largest << shift
    if keys * scaled >= 1 << 24 or keys * scaled**2 >= 1 << (39 + shift):
        return None
    return (values << shift).astype(np.uint16)


def logit_table(table: np.ndarray | None, low: int, high: int) -> np.ndarray:
    """Values of logits from `low` to `high`, plus 128; `table` holds what those of int8 become, None: themselves."""
    values = np.clip(np.arange(low, high + 1), -128, 127)
    return ((values if table is None else table.reshape(-1).astype(np.int64)[values + 128]) + 128).astype(np.uint8)


def levels_of_a_logit(table: np.ndarray) -> tuple[int, int] | None:
    """How many int8 values, plus 128, become one logit, and what is added to those below 128 before; or None.

    It is a power of two, multiples of it begin a logit, and the next logit is one more, so that differences of logits
    are differences of values. Something is added where a division rounds towards 0. The logit 0 is in reach.
    """
    values, logits = np.arange(_ENTRIES), table.reshape(-1).astype(np.int64)
    for step, lift in ((1, 0), (2, 0), (2, 1), (4, 0), (8, 0)):
        reaches = step * logits[0] == -128 if lift else 0 <= -step * logits[0] < _ENTRIES
        if reaches and np.array_equal(logits, logits[0] + (values + lift * (values < 128)) // step):
            return step, lift
    return None


def least_to_skip(table: np.ndarray, exponentials: np.ndarray, probability: np.ndarray | None) -> int:
    """The attention kernel's `skips_from` for a table of `logit_table` and one of `small_exponential_table`.

    A mask value of -128 leaves at most `largest - 128` of a logit (plus 128), and exponentials are 0 from some distance
    to the row's largest logit on; 256 where that never happens or a weight of 0 still counts.
    """
    alive = np.flatnonzero(exponentials)
    distance = 256 - int(alive.min())
    if probability is not None and int(probability.reshape(-1)[0]) != 0:
        return 256
    return min(256, max(0, int(table.max()) - 128) + distance)


def expected_keys(keys: int, every: int, queries: tuple[int, int], skips_from: int, table: np.ndarray) -> int:
    """Keys of a row that get a weight on average, of `queries` (start, size) of `every`, with a mask of a row for each.

    It hides what comes after the query; for good where the row's largest logit reaches `skips_from`. That is expected
    of the upper half of what `table` holds.
    """
    if every < 3 or every > keys or 2 * skips_from > int(table.min()) + int(table.max()):
        return keys
    return keys - every + queries[0] + (queries[1] + 1) // 2
