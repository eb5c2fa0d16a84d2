"""Pass: what lies where in every bundle.

Expects bundles (`bundle`) and positions of all moves (`prefetch`). In front there is room for the records of the
steps that the bundle tells of, which grow with what each step issues; then come descriptors, then parts of constants:

    bundle_0 (descriptors of 0 and 1, w, b)         becomes
    bundle_0: 120 bytes of records, descriptors at 120 and 160, w at 208, b at 336, 400 bytes in all

Guarantees sizes of all blocks and places of all buffers; a bundle with nothing in it does not move.
"""

from collections import Counter
from collections.abc import Sequence

from tvm_pulp.planning.program.positions import BOOT, compute_position, computing_slot, next_slot
from tvm_pulp.planning.program.step_record import COMMAND_WORDS, most_record_words, transfer_words
from tvm_pulp.planning.tiling.alignment import aligned
from tvm_pulp.planning.tiling.schedule.program import Bundle, Move, Piece, Place, Program, Slot
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits, split_transfers
from tvm_pulp.uma.box import Transfer
from tvm_pulp.uma.recipe import Job, Local, operands_of

PIECE_ALIGNMENT = 16
# Records and descriptors of one bundle are smaller than this.
_MOST_RECORDS = 0x8000


def page_at(position: int, pages: Sequence[Bundle]) -> Bundle:
    """The page that tells a position: what precedes the first step of a page stands in the page before."""
    slot = computing_slot(position)
    told = slot if slot is not None else max(0, next_slot(position) - 1)
    return pages[min(told, len(pages) - 1)]


def lay_out(program: Program) -> Program:
    """The program with bundles whose sizes and offsets are known."""
    room = _record_bytes(program)
    for bundle in program.bundles:
        _lay_out(bundle, room[bundle])
    limits = program.policy.commands
    for layer in program.layers:
        for move in layer.bundle_loads:
            assert isinstance(move.source, Bundle)
            size = move.source.bytes
            move.place.block.bytes = size + move.source.slack
            move.transfers = split_transfers([Transfer(0, 0, size, size, size)], limits)
    program.moves = tuple(move for move in program.moves if move.transfers)
    program.slots = tuple(
        Slot(number, layer, tile, step, {o: places[o] for o in operands_of(step) if isinstance(o, Local)})
        for number, (layer, tile, step) in enumerate(program.order.all)
        for places in (program.layers[layer].places,)
    )
    return program


def _record_bytes(program: Program) -> Counter[Bundle]:
    """Room for the records of all steps, by the page that holds each."""
    limits, steps, pages = program.policy.commands, program.order.all, program.pages
    issued: dict[int, list[int]] = {compute_position(slot): [] for slot in range(len(steps))}
    for move in program.moves:
        issued.setdefault(move.position, []).append(_command_words(move, limits))
    fetched = Counter(fetch.position for fetch in program.fetches)
    jobs = {compute_position(slot) for slot, (_, _, step) in enumerate(steps) if isinstance(step, Job)}
    room: Counter[Bundle] = Counter()
    for position in (issued.keys() | fetched.keys()) - {BOOT}:
        words = most_record_words(issued.get(position, ()), jobs=position in jobs, fetches=fetched[position])
        room[page_at(position, pages)] += 4 * words
    if steps:
        room[pages[-1]] += 4 * most_record_words((), jobs=0, fetches=0)
    return room


def _command_words(move: Move, limits: CommandLimits) -> int:
    """Words of the commands of a move; of a bundle, which grows by the records that its own move is in, at most."""
    if isinstance(move.source, Bundle):
        most = sum(p.bytes + PIECE_ALIGNMENT for p in move.source.pieces) + _MOST_RECORDS
        return COMMAND_WORDS * (1 + most // (limits.largest or most + 1))
    is_spread = move.source.storage.apart > 0
    return sum(transfer_words(lines=is_spread or t.is_2d) for t in move.transfers)


def _lay_out(bundle: Bundle, record_room: int) -> None:
    """Records, descriptors, parts of tensors."""
    bundle.record_bytes = position = record_room
    for slot, size in bundle.descriptors.items():
        bundle.descriptors[slot] = position
        position += size
    for number, piece in enumerate(bundle.pieces):
        offset = aligned(position, PIECE_ALIGNMENT)
        bundle.pieces[number] = Piece(piece.tensor, piece.box, offset)
        position = offset + piece.bytes
    bundle.bytes = reach = aligned(position, 4)
    for places, local, block, number in bundle.held:
        offset = bundle.pieces[number].offset
        places[local] = Place(block, offset)
        reach = max(reach, offset + local.bytes)
    bundle.slack = reach - bundle.bytes
