"""Records of steps: which page tells a position, and how much room each page needs for them."""

from collections import Counter
from collections.abc import Mapping, Sequence

from tvm_pulp.planning.tiling.schedule.constant_bundles import BundleBuilder, record_bytes
from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Bundle, Fetch, Move, compute_position
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits, split_transfers
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder
from tvm_pulp.quick_records import changed
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
    issued: dict[int, list[Move]] = {compute_position(slot): [] for slot in range(len(steps.all))}
    for move in moves:
        issued.setdefault(move.position, []).append(move)
    fetched = Counter(fetch.position for fetch in fetches)
    jobs = {compute_position(slot) for slot, (_, _, step) in enumerate(steps.all) if isinstance(step, Job)}
    needed: Counter[Bundle] = Counter()
    for position in (issued.keys() | fetched.keys()) - {BOOT}:
        room = record_bytes(issued.get(position, ()), limits, job=position in jobs, fetches=fetched[position])
        needed[page_at(position, page_of)] += room
    if steps.all:
        needed[page_of[len(steps.all) - 1]] += record_bytes((), limits, job=False)
    for bundle in bundles.made:
        bundles.finish(bundle, needed[bundle])
    return [made for move in moves if (made := _sized(move, limits)).transfers]


def _sized(move: Move, limits: CommandLimits) -> Move:
    """The move of a bundle that is laid out, with its transfers; its block holds all of it."""
    if not isinstance(move.source, Bundle):
        return move
    size = move.source.bytes
    move.place.block.bytes = size + move.source.slack
    return changed(move, transfers=split_transfers([Transfer(0, 0, size, size, size)], limits))
