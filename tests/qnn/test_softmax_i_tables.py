"""When attention kernels may skip what a mask hides, how many keys that leaves, and tables that only divide."""

import numpy as np
import pytest

from tvm_pulp.qnn.softmax_i_tables import expected_keys, least_to_skip, levels_of_a_logit


def hidden_weights_vanish(largest: int, table: np.ndarray, exponentials: np.ndarray) -> bool:
    """In a row whose largest logit (plus 128) is this, a mask of -128 leaves nothing of any logit."""
    masked = np.maximum(table.astype(np.int64) - 128, 0)
    distance = largest - masked
    return bool((exponentials[255 - np.clip(distance, 0, 255)] == 0).all())


def least_by_trying(table: np.ndarray, exponentials: np.ndarray) -> int:
    """The smallest value from which on it always holds."""
    least = 256
    while least > 0 and hidden_weights_vanish(least - 1, table, exponentials):
        least -= 1
    return least


def falling(alive: int) -> np.ndarray:
    """Exponentials that are 0 from distance `alive` on; entry 255 - d belongs to distance d."""
    return np.where(np.arange(256) >= 256 - alive, np.arange(256) + 1, 0).astype(np.uint16)


@pytest.mark.parametrize("alive", [1, 2, 30, 100, 127, 128, 129, 200, 255, 256])
@pytest.mark.parametrize("highest", [0, 50, 128, 129, 180, 255])
def test_it_is_the_least_that_is_right(alive: int, highest: int) -> None:
    table = np.linspace(0, highest, 40).astype(np.uint8)
    assert least_to_skip(table, falling(alive), None) == least_by_trying(table, falling(alive))


def test_a_weight_of_zero_that_still_counts_forbids_it() -> None:
    table, probability = np.array([10, 200], np.uint8), np.zeros((1, 256), np.int8)
    allowed = least_to_skip(table, falling(20), probability)
    assert allowed == least_to_skip(table, falling(20), None) < 256
    probability[0, 0] = 1
    assert least_to_skip(table, falling(20), probability) == 256
    probability[0, :2] = (0, 5)
    assert least_to_skip(table, falling(20), probability) == allowed


def test_a_causal_mask_is_expected_to_hide_for_good_where_half_of_the_logits_do() -> None:
    table = np.arange(64, 192).astype(np.uint8)
    assert expected_keys(64, 64, (0, 64), 127, table) == 32
    assert expected_keys(64, 64, (32, 32), 127, table) == 48
    assert expected_keys(64, 64, (0, 64), 128, table) == 64
    assert expected_keys(64, 1, (0, 1), 100, table) == 64


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (np.arange(-128, 128), (1, 0)),
        (np.arange(-128, 128) // 2, (2, 0)),
        (np.trunc(np.arange(-128, 128) / 2), (2, 1)),
        (np.arange(-128, 128) // 4 - 8, (4, 0)),
        # Rounded otherwise, steep, falling, without 0.
        (np.arange(-127, 129) // 2, None),
        (np.arange(-128, 128).clip(-64, 63) * 2, None),
        (-np.arange(-127, 129), None),
        (np.arange(-128, 128) // 8 + 20, None),
    ],
)
def test_a_table_that_divides_is_seen(table: np.ndarray, found: tuple[int, int] | None) -> None:
    assert levels_of_a_logit(table.astype(np.int8)) == found
