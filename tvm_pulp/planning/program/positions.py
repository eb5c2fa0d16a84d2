"""Times of a program: places between and beside compute steps, which are numbered in order.

Nobody else knows how they are counted; plan.json says it to its readers. Where nothing happens there is no record.
"""

# Before the first record: issued by the entry function itself.
BOOT = -1
# Stores, loads, and what a compute step runs beside.
_PARTS, _STORES, _LOADS, _COMPUTES = 3, 0, 1, 2


def compute_position(slot: int) -> int:
    """A compute step, and all that moves beside it."""
    return _PARTS * slot + _COMPUTES


def load_position(slot: int) -> int:
    """In front of a compute step: nothing computes while such a load runs."""
    return _PARTS * slot + _LOADS


def store_position(slot: int) -> int:
    """As `load_position`, early enough for a load of what was stored."""
    return _PARTS * slot + _STORES


def next_slot(position: int) -> int:
    """The compute step of a position, or the first behind it."""
    return position // _PARTS


def computing_slot(position: int) -> int | None:
    """The compute step of a position; None where nothing computes."""
    return position // _PARTS if position % _PARTS == _COMPUTES else None
