"""Positions: in front of every compute step there is room for stores, then for loads, that nothing overlaps."""

from tvm_pulp.planning.program.positions import (
    BOOT,
    compute_position,
    computing_slot,
    load_position,
    next_slot,
    store_position,
)


def test_they_are_in_order() -> None:
    order = [at(slot) for slot in range(3) for at in (store_position, load_position, compute_position)]
    assert order == sorted(set(order)) and order[0] > BOOT


def test_they_tell_their_compute_step() -> None:
    for slot in range(3):
        assert computing_slot(compute_position(slot)) == slot
        assert computing_slot(load_position(slot)) is computing_slot(store_position(slot)) is None
        assert {next_slot(at(slot)) for at in (store_position, load_position, compute_position)} == {slot}
