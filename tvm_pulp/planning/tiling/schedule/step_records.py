"""Records of steps: which page tells a position, and how much room each page needs for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tvm_pulp.planning.tiling.schedule.constant_bundles import BundleBuilder, record_bytes
from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Bundle, Fetch, Move, compute_position
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits, split_transfers
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder
from tvm_pulp.uma.box import Transfer
from tvm_pulp.uma.recipe import Job


def page_at(position: int, pages: Mapping[int, Bundle] | Sequence[Bundle]) -> Bundle:
    """The page that tells a position: what precedes the first step of a page stands in the page before."""
    slot, part = divmod(position, 3)
    if slot >= len(pages):
        return pages[len(pages) - 1]
    if part != 2 and slot:
        return pages[slot - 1]
    return pages[slot]


def reserve_records(
    steps: StepOrder,
    moves: Sequence[Move],
    fetches: Sequence[Fetch],
    bundles: BundleBuilder,
    page_of: Mapping[int, Bundle],
    limits: CommandLimits,
) -> list[Move]:
    """Room for the step records of every page, in front of what else the bundle holds.

    Returns the moves, those of bundles with their sizes; a bundle with nothing in it does not move.
    """
    positions: dict[int, list[Move]] = {}
    for move in moves:
        if move.position != BOOT:
            positions.setdefault(move.position, []).append(move)
    for slot in range(len(steps.all)):
        positions.setdefault(compute_position(slot), [])
    for fetch in fetches:
        if fetch.position != BOOT:
            positions.setdefault(fetch.position, [])
    needed: dict[Bundle, int] = {}
    for position, issued in positions.items():
        page = page_at(position, page_of)
        slot, part = divmod(position, 3)
        job = part == 2 and slot < len(steps.all) and isinstance(steps.all[slot].step, Job)
        count = sum(f.position == position for f in fetches)
        needed[page] = needed.get(page, 0) + record_bytes(issued, limits, job=job, fetches=count)
    if steps.all:
        last = page_of[len(steps.all) - 1]
        needed[last] += record_bytes([], limits, job=False)
    for bundle in bundles.made:
        bundles.finish(bundle, needed.get(bundle, 0))
    sized = [_sized(move, move.source, limits) if isinstance(move.source, Bundle) else move for move in moves]
    return [move for move in sized if move.transfers]


def _sized(move: Move, bundle: Bundle, limits: CommandLimits) -> Move:
    """The move of a bundle that is laid out, with its transfers; its block holds all of it."""
    size = bundle.bytes
    move.place.block.bytes = size + bundle.slack
    return replace(move, transfers=split_transfers([Transfer(0, 0, size, size, size)], limits))
