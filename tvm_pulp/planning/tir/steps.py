"""The steps of a program: statements of the synchronised main function, grouped."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tvm_pulp.planning.program.actions import Action, Begin, Page, Step, Wait
from tvm_pulp.planning.program.positions import BOOT
from tvm_pulp.planning.tiling.schedule.lay_out import page_at
from tvm_pulp.planning.tiling.schedule.program import Bundle
from tvm_pulp.planning.tir.statements import (
    Barrier,
    BeginStep,
    CallKernel,
    FetchBytes,
    MoveBytes,
    Statement,
    SubmitJob,
)
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.recipe import Changes
from tvm_pulp.uma.teams import ALL_CORES


def steps_of(statements: Sequence[Statement], tables: Tables, changed: Mapping[int, Changes]) -> tuple[Step, ...]:
    """Steps with their waits, barriers and actions; jobs of which only changes are told have fewer words."""
    pages = tables.plan.schedule.pages
    bundle_at = {bundle: block.offset for bundle, block in tables.bundle_block.items()}
    begun: list[tuple[int | None, tuple[Wait, ...], int, list[Action]]] = []
    waits: list[Wait] = []
    barrier = 0  # the team that meets
    for made in statements:
        if isinstance(made, BeginStep):
            begun.append((made.position, tuple(waits), barrier, []))
            waits, barrier = [], 0
        elif isinstance(made, Wait):
            waits.append(made)
        elif isinstance(made, Barrier):
            barrier = made.team
        elif isinstance(made, SubmitJob) and made.slot in changed:
            begun[-1][3].append(replace(made, words=changed[made.slot].words))
        elif isinstance(made, Begin | MoveBytes | FetchBytes | CallKernel | SubmitJob):
            begun[-1][3].append(made)
    if begun and (waits or barrier):
        begun.append((None, tuple(waits), barrier, []))
    return tuple(
        Step(
            position=at,
            waits=first,
            barrier=team > 0,
            page=_page(at, pages, bundle_at),
            actions=tuple(actions),
            team=team if team > ALL_CORES else None,
        )
        for at, first, team, actions in begun
    )


def _page(position: int | None, pages: Sequence[Bundle], bundle_at: Mapping[Bundle, int]) -> Page | None:
    """The place that a step's record is read from; the entry function needs none."""
    if position is None or position == BOOT or not pages:
        return None
    page = page_at(position, pages)
    return Page(page.name, bundle_at[page], page.record_bytes)
