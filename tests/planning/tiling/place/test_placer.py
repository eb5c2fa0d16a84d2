"""The placer: lowest free offsets in a given order, and what ceilings, limits and running jobs change about them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tvm_pulp.planning.tiling.place.placer import Buffer, Placer, largest_live_set, live_bytes

LAST = 12


@st.composite
def buffers(draw: st.DrawFn) -> list[Buffer]:
    made = []
    for key in range(draw(st.integers(0, 12))):
        first = draw(st.integers(0, LAST))
        last = draw(st.integers(first, LAST))
        size, until, odd = draw(st.integers(0, 80)), draw(st.integers(-1, LAST)), draw(st.booleans())
        made.append(Buffer(key, size, first, last, until, odd))
    return made


def lowest_free(size: int, taken: set[int]) -> int:
    return next(o for o in range(0, 1 << 20, 16) if taken.isdisjoint(range(o, o + size)))


@settings(max_examples=30, deadline=None)
@given(buffers())
def test_each_buffer_gets_the_lowest_offset_that_is_free_while_it_lives(made: list[Buffer]) -> None:
    found = Placer(made).place(made)
    assert found is not None
    taken: list[tuple[Buffer, set[int]]] = []
    for buffer, offset in zip(made, found.offsets, strict=True):
        meets = [used for other, used in taken if other.first <= buffer.last and buffer.first <= other.last]
        assert offset == lowest_free(buffer.size, set().union(*meets))
        taken.append((buffer, set(range(offset, offset + buffer.size))))
    assert found.size == max((o + b.size for b, o in zip(made, found.offsets, strict=True)), default=0)


@settings(max_examples=30, deadline=None)
@given(buffers(), st.integers(0, 400), st.booleans())
def test_no_two_meet_whatever_is_asked(made: list[Buffer], ceiling: int, keep_used: bool) -> None:
    placer = Placer(made)
    for order in placer.orders:
        found = placer.place(order, ceiling, keep_used=keep_used, budget=ceiling if keep_used else None)
        assert found is not None and sorted(b.key for b in found.order) == sorted(b.key for b in made)
        placed = list(zip(found.order, found.offsets, strict=True))
        for one, a in placed:
            for other, b in placed:
                together = one is not other and one.first <= other.last and other.first <= one.last
                assert not (together and one.size and other.size) or a + one.size <= b or b + other.size <= a


@settings(max_examples=30, deadline=None)
@given(buffers())
def test_nothing_is_smaller_than_the_largest_live_set(made: list[Buffer]) -> None:
    sums = [sum(b.size for b in made if b.first <= step <= b.last) for step in range(LAST + 1)]
    assert largest_live_set(made) == max(sums)
    assert all(
        sums[position] == level
        for position, level in live_bytes((b.size, b.first, b.last) for b in made)
        if position <= LAST
    )
    found = Placer(made).place(made)
    assert found is not None and found.size >= max(sums)
    assert Placer(made).place(made, below=found.size) is None or not made


def test_odd_ones_hang_from_the_ceiling() -> None:
    made = [Buffer("a", 32, 0, 3), Buffer("b", 32, 0, 3, downward=True)]
    found = Placer(made).place(made, 128)
    assert found is not None and found.offsets == [0, 96]


def test_bytes_of_a_running_job_are_kept_where_there_is_room() -> None:
    made = [Buffer("job", 32, 0, 1, until=4), Buffer("next", 32, 3, 3)]
    placer = Placer(made)
    kept = [placer.place(made, keep_used=True, budget=budget) for budget in (64, 32)]
    plain = placer.place(made)
    assert [p and p.offsets for p in (*kept, plain)] == [[0, 32], [0, 0], [0, 0]]
