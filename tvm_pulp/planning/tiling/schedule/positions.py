"""Times of a program that is planned, counted in thirds of a compute step: stores, loads, computation."""

# Before the first record: issued by the entry function itself.
BOOT = -1


def compute_position(slot: int) -> int:
    return 3 * slot + 2


def load_position(slot: int) -> int:
    """Nothing computes while such a load runs."""
    return 3 * slot + 1


def store_position(slot: int) -> int:
    """As `load_position`, early enough for a load of what was stored."""
    return 3 * slot
