"""Pass: when everything moves.

Expects tiles and bundles (`tile`, `bundle`) in the order of their steps (`interleave`). Loads are issued ahead of the
step that needs them, and stores beside the step behind the one that made them, as far as leads, copies and the order
of reads and writes in L2 allow; what comes from L3 is fetched while what came before is taken to L1:

    load 0; call 0; store 0; load 1; call 1; store 1       becomes
    load 0; { load 1; call 0 }; { store 0; call 1 }; store 1

Guarantees that every move has a position, and moves are in the order of positions.
"""

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.program.positions import BOOT, compute_position, load_position, next_slot, store_position
from tvm_pulp.planning.tiling.schedule.l3_fetches import l3_fetches
from tvm_pulp.planning.tiling.schedule.program import Move, Program, TiledLayer
from tvm_pulp.planning.tiling.schedule.tensor_ranges import TensorRange, meet, range_of, whole_of
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import Call, Job, Load, Store, operands_of


def prefetch(program: Program) -> Program:
    """The program with times."""
    timer = _Timer(program)
    for layer in program.layers:
        timer.layer(layer)
    moves = [m for layer in program.layers for m in (*layer.bundle_loads, *layer.loads, *layer.stores)]
    moves.sort(key=lambda m: (m.position, m.ahead, m.outward))
    program.moves = tuple(moves)
    uses = [(m.position, m.layer, m.source) for m in moves if isinstance(m.source, Tensor)]
    for number, (index, _, step) in enumerate(program.order.all):
        uses += [(compute_position(number), index, o) for o in operands_of(step) if isinstance(o, Tensor)]
    program.fetches = tuple(l3_fetches(uses, program.policy))
    return program


class _Timer:
    def __init__(self, program: Program) -> None:
        self._program, self._policy, self._steps = program, program.policy, program.order
        self._outputs = {t.storage for t in program.network.outputs}
        # Bytes of activations in L2, and the position at which they were written.
        self._written: dict[Tensor, list[tuple[TensorRange, int]]] = {}

    def layer(self, layer: TiledLayer) -> None:
        """Everything that moves for a layer, whose inputs were written before."""
        for move in layer.bundle_loads:
            self._arrive(move, move.slot, *self._early(layer, move.tile, move.slot))
        for move in layer.loads:
            load = move.said
            assert isinstance(load, Load)
            start = self._steps.span(layer.index, move.tile, load.local)[0]
            if move.local is None:
                self._bring(move, start)
            elif load.local.inside is not None:
                self._load_inside(layer, move, start)
            else:
                self._load(layer, move, load, start)
        stores = grouped((move.tile, move) for move in layer.stores)
        for tile in range(len(self._program.choices[layer.index].recipes)):
            for move in stores.get(tile, ()):
                self._leave(layer, move)
            for slot in self._steps.slots(layer.index, tile):
                self._note_writes(slot)

    def _note_writes(self, slot: int) -> None:
        """A step works on tensors in L2 where they lie."""
        for operand in operands_of(self._steps.all[slot].step):
            if isinstance(operand, Tensor):
                storage = operand.storage
                if storage.kind != "constant" and storage.level != "l1":
                    self._written[storage] = [(whole_of(storage), compute_position(slot))]

    def _arrive(self, move: Move, slot: int, position: int, ahead: bool) -> None:
        move.position, move.ahead, move.needed = position, ahead, compute_position(slot)

    def _early(self, layer: TiledLayer, tile: int, needed: int) -> tuple[int, bool]:
        """Position to load what a tile needs at slot `needed`, and whether that is ahead of the layer."""
        begin = needed if tile else self._steps.begin(needed)
        if begin == 0:
            return BOOT, False
        if not self._policy.overlap:
            return load_position(begin), False
        if tile and self._program.choices[layer.index].two_copies:
            return compute_position(min(self._steps.slots(layer.index, tile - 1)[0], needed - 1)), False
        lead = self._policy.leads.get(layer.index, 0)
        if tile == 0 and lead:
            return compute_position(max(0, begin - lead)), True
        return load_position(begin), False

    def _load(self, layer: TiledLayer, move: Move, load: Load, start: int) -> None:
        storage = load.tensor.storage
        position, ahead = self._early(layer, move.tile, start)
        if ahead and (storage.kind != "input" or storage.level == "l3"):
            # Data of other layers is loaded one step ahead at most; the network's own is there from the start.
            position = compute_position(self._steps.begin(start) - 1)
        written = self._written_at(range_of(load))
        if position <= written:
            begin = self._steps.begin(start)
            position, ahead = self._after(written, begin if written < load_position(begin) else start), False
        self._arrive(move, start, position, ahead)

    def _load_inside(self, layer: TiledLayer, move: Move, start: int) -> None:
        position, ahead = self._early(layer, move.tile, start)
        if move.tile and move.place.offset:
            # The result stays in L1 as a whole: the tile before may write a little into what belongs to this one.
            position, ahead = load_position(start), False
        self._arrive(move, start, position, ahead)

    def _bring(self, move: Move, start: int) -> None:
        assert isinstance(move.source, Tensor)
        storage, begin = move.source, self._steps.begin(start)
        written = self._written_at(whole_of(storage))
        start = begin if written < load_position(begin) else start
        position, ahead = (BOOT if start == 0 else load_position(start)), False
        lead = self._policy.leads.get(move.layer, 0)
        lead = lead if storage.kind in ("input", "constant") else min(1, lead)
        early = compute_position(max(0, start - lead))
        if start and lead and self._policy.overlap and written < early:
            position, ahead = early, True
        self._arrive(move, start, position, ahead)

    def _leave(self, layer: TiledLayer, move: Move) -> None:
        """A result is stored."""
        store = move.said
        assert isinstance(store, Store)
        storage, steps = store.tensor.storage, self._steps
        readers = self._program.later_readers(storage, layer)
        after = steps.span(layer.index, move.tile, store.local)[1] + 1
        # An output of the network is read by nobody here, so that it may always leave during the next step.
        leaves = storage in self._outputs or storage.kind == "output"
        choice = self._program.choices[layer.index]
        streams = choice.two_copies or (leaves and not choice.exclusive)
        overlapped = streams and self._policy.overlap and after < len(steps.all)
        if overlapped and steps.all[after].layer != layer.index and steps.all[after].layer in readers:
            overlapped = not self._reads(after, range_of(store))
        move.position = compute_position(after) if overlapped else store_position(after)
        if not readers and self._program.resident.get(storage) is move.place.block:
            move.position = self._beside_reader(layer, after, storage) or move.position
        self._written.setdefault(storage, []).append((range_of(store), move.position))

    def _written_at(self, wanted: TensorRange) -> int:
        """Position at which the last of some bytes in L2 were written; before everything else where they were not."""
        found = (position for some, position in self._written.get(wanted.tensor, ()) if meet((some,), (wanted,)))
        return max(found, default=BOOT - 1)

    def _after(self, written: int, start: int) -> int:
        """Position to load what was written before slot `start`: beside a kernel between, if there is one."""
        if not self._policy.interleave:
            return load_position(start)
        between = range(next_slot(written) + 1, start)
        kernels = [s for s in between if not isinstance(self._steps.all[s].step, Job)]
        # The first kernel is what the store itself runs beside.
        slots = [s for s in between if kernels and s > kernels[0]] or list(between)[-1:]
        return compute_position(slots[0]) if slots and self._policy.overlap else load_position(start)

    def _reads(self, slot: int, written: TensorRange) -> bool:
        """Tell if the tile of a step loads some of these bytes, or the step itself reads them where they lie."""
        index, tile, step = self._steps.all[slot]
        if any(isinstance(o, Tensor) and o.storage is written.tensor for o in operands_of(step)):
            return True
        loads = self._program.choices[index].recipes[tile].loads
        return meet([range_of(s) for s in loads if s.tensor.storage is written.tensor], (written,))

    def _beside_reader(self, layer: TiledLayer, after: int, storage: Tensor) -> int | None:
        """A result of the network that later layers read in L1 leaves beside the first of them that runs on the cores.

        Right behind an accelerator's step it would make everybody wait for the job.
        """
        if not isinstance(self._steps.all[after - 1].step, Job) or not self._policy.overlap:
            return None
        for reader in sorted(self._policy.resident.get(storage, ())):
            slot = self._steps.slots(reader, 0)[0]
            if reader > layer.index and slot >= after and isinstance(self._steps.all[slot].step, Call):
                return compute_position(slot)
        return None
