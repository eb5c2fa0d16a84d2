"""The arena planner on random lifetimes: nothing overlaps, the bound is the true one, the result is close to it."""

from hypothesis import given
from hypothesis import strategies as st

from tvm_pulp.planning.tiling.alignment import ALIGNMENT
from tvm_pulp.planning.tiling.place.arena import plan_arena
from tvm_pulp.planning.tiling.place.placer import Buffer, largest_live_set

STEPS = 12


@st.composite
def demands(draw: st.DrawFn) -> list[Buffer]:
    buffers = []
    for key in range(draw(st.integers(0, 14))):
        first = draw(st.integers(0, STEPS))
        buffers.append(Buffer(key, draw(st.integers(0, 300)), first, draw(st.integers(first, STEPS))))
    return buffers


@given(demands())
def test_buffers_alive_together_are_apart(buffers: list[Buffer]) -> None:
    arena = plan_arena(buffers)
    placed = [b for b in buffers if b.size]
    assert set(arena.offsets) == {b.key for b in placed}
    for one in placed:
        begin = arena.offsets[one.key]
        assert begin % ALIGNMENT == 0 and begin >= 0 and begin + one.size <= arena.size
        for other in placed:
            if one is not other and one.first <= other.last and other.first <= one.last:
                start = arena.offsets[other.key]
                assert begin + one.size <= start or start + other.size <= begin
    assert plan_arena(buffers) == arena


@given(demands())
def test_bound_is_the_largest_sum_of_any_step(buffers: list[Buffer]) -> None:
    sums = [sum(b.size for b in buffers if b.first <= step <= b.last) for step in range(STEPS + 1)]
    assert largest_live_set(buffers) == max(sums)
    arena = plan_arena(buffers)
    assert arena.largest_live_set == max(sums) <= arena.size or not buffers


@given(st.lists(st.integers(1, 64), min_size=1, max_size=20))
def test_chain_needs_no_more_than_its_bound(blocks: list[int]) -> None:
    # Each layer reads one buffer and writes the next: the planner must reach the bound.
    sizes = [b * ALIGNMENT for b in blocks]
    arena = plan_arena([Buffer(i, size, i, i + 1) for i, size in enumerate(sizes)])
    assert arena.size == arena.largest_live_set


def test_no_buffers_no_arena() -> None:
    assert plan_arena([]).size == 0
