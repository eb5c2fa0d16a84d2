"""The verifier's rules for parts of the cores: those that share data have met, others need not."""

from tests.planning.check.race_steps import DESCRIPTOR, access, faults
from tvm_pulp.planning.program.actions import (
    Action,
    Begin,
    KernelAction,
    Page,
    Step,
    TransferAction,
    WaitForTransfers,
)

ALL, FIRST, SECOND, LAST_QUARTER = None, 2, 3, 7


def kernel(team: int | None, reads: int, writes: int) -> KernelAction:
    common = {"layer": 0, "tile": 0, "op": "add", "cycles": 1, "descriptor": DESCRIPTOR}
    return KernelAction(**common, team=team, reads=access(reads), writes=access(writes))


def load(start: int) -> tuple[Begin, TransferAction]:
    moved = TransferAction(do="load", layer=0, tile=0, agent=0, ahead=False, reads=(), writes=access(start))
    return Begin(agent=0, group=0), moved


def step(*actions: Action, meet: int | None = 0, wait: bool = False, page: Page | None = None) -> Step:
    """`meet`: the team that meets before; 0: nobody."""
    waits = (WaitForTransfers(0, 0),) if wait else ()
    return Step(position=0, waits=waits, barrier=meet != 0, actions=actions, team=meet or None, page=page)


def test_teams_that_share_nothing_need_not_meet() -> None:
    assert faults(step(kernel(FIRST, 0, 16)), step(kernel(SECOND, 0, 32))) == []


def test_a_team_that_reads_what_it_wrote_meets_by_itself() -> None:
    one, other, next_one = (
        step(kernel(team, *place)) for team, place in ((FIRST, (0, 16)), (SECOND, (0, 32)), (FIRST, (16, 48)))
    )
    assert faults(one, other, next_one) != []
    assert faults(one, other, step(kernel(FIRST, 16, 48), meet=FIRST)) == []
    assert faults(one, other, step(kernel(FIRST, 16, 48), meet=SECOND)) != []


def test_a_result_of_another_team_takes_a_barrier_of_both() -> None:
    one = step(kernel(FIRST, 0, 16))
    assert faults(one, step(kernel(SECOND, 16, 32), meet=FIRST)) != []
    assert faults(one, step(kernel(LAST_QUARTER, 16, 32), meet=SECOND)) != []
    assert faults(one, step(kernel(SECOND, 16, 32), meet=ALL)) == []


def test_knowledge_spreads_from_barrier_to_barrier() -> None:
    """A quarter's result, known to its half, is known to all behind a barrier of all only."""
    one, met = step(kernel(4, 0, 16)), step(meet=FIRST)
    assert faults(one, met, step(kernel(5, 16, 32))) == []
    assert faults(one, met, step(kernel(6, 16, 32))) != []
    assert faults(one, met, step(kernel(6, 16, 32), meet=SECOND)) != []
    assert faults(one, met, step(kernel(6, 16, 32), meet=ALL)) == []


def test_a_transfer_is_known_to_the_team_of_its_core_first() -> None:
    assert faults(step(*load(16)), step(kernel(SECOND, 16, 32), meet=SECOND, wait=True)) != []
    assert faults(step(*load(16)), step(kernel(FIRST, 16, 32), meet=FIRST, wait=True)) == []
    assert faults(step(*load(16)), step(kernel(SECOND, 16, 32), meet=ALL, wait=True)) == []


def test_a_record_that_some_cores_may_still_read_is_not_overwritten() -> None:
    page = Page("bundle_0", 0, 64)
    assert faults(step(kernel(FIRST, 128, 144), page=page), step(*load(16), meet=FIRST)) != []
    assert faults(step(kernel(FIRST, 128, 144), page=page), step(*load(16), meet=ALL)) == []
