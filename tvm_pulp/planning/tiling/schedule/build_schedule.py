"""From chosen tilings to a schedule: order of compute steps, transfers with their positions, blocks with lifetimes."""

from collections.abc import Sequence

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.tiling.forms.cuts import MissingL1
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.constant_bundles import BundleBuilder
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.l3_fetches import l3_fetches
from tvm_pulp.planning.tiling.schedule.schedule import (
    BOOT,
    Block,
    Bundle,
    Move,
    Place,
    Schedule,
    Slot,
    compute_position,
    load_position,
    store_position,
)
from tvm_pulp.planning.tiling.schedule.split_transfers import split_transfers
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder, step_order
from tvm_pulp.planning.tiling.schedule.step_records import reserve_records
from tvm_pulp.planning.tiling.schedule.tensor_ranges import TensorRange, meet, range_of, whole_of
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.uma.box import Box, Transfer, pitched_transfers
from tvm_pulp.uma.contiguous import box_bytes
from tvm_pulp.uma.recipe import Call, Job, Load, Local, Recipe, Store, operands_of

# Records and descriptors of a layer travel together unless they would take more than this part of L1.
PAGE_SHARE = 12
# A box of what begins at an element of a tensor.
_Piece = tuple[Tensor, int, Box]


def build_schedule(
    network: Network, choices: Sequence[Choice], policy: Policy, l1_bytes: int, steps: StepOrder | None = None
) -> Schedule:
    """The schedule, with blocks not placed yet. `steps`: their order, where it is known."""
    return _Builder(network, choices, policy, l1_bytes, steps or step_order(choices, policy)).build()


class _Builder:
    def __init__(
        self, network: Network, choices: Sequence[Choice], policy: Policy, l1_bytes: int, steps: StepOrder
    ) -> None:
        self._network, self._choices, self._policy, self._l1_bytes = network, choices, policy, l1_bytes
        self.moves: list[Move] = []
        self.blocks: list[Block] = []
        self.bundles = BundleBuilder([choice.loaded for choice in choices], policy.level)
        self.resident: dict[Tensor, Block] = {}
        self.l2_alive: dict[Tensor, tuple[int, int]] = {}
        # Bytes of activations in L2, and the position at which they were written.
        self._written: dict[Tensor, list[tuple[TensorRange, int]]] = {}
        self._page_of: dict[int, Bundle] = {}
        self._commands = 0
        # What the next layer's constants may join, and the bytes it holds about.
        self._open: tuple[Bundle, Block, int] | None = None
        self._steps = steps
        self._outputs = {t.storage for t in network.outputs}
        read = ((tensor.storage, index) for index, layer in enumerate(network.layers) for tensor in layer.inputs)
        self._l2_readers = grouped((t, index) for t, index in read if index not in policy.resident.get(t, ()))

    # --- whole network ---------------------------------------------------------------------------------------

    def _split(self, index: int, moved: Sequence[Transfer]) -> tuple[Transfer, ...]:
        limits = self._policy.commands
        split = split_transfers(moved, limits)
        self._commands += len(split)
        if limits.most is not None and self._commands > limits.most:
            # Tiles so small are no way out: a larger L1 is.
            raise MissingL1(self._network.layers[index], 2 * self._l1_bytes, self._l1_bytes)
        return split

    def build(self) -> Schedule:
        places = [self._layer(index, choice) for index, choice in enumerate(self._choices)]
        self.moves.sort(key=lambda m: (m.position, m.ahead, m.outward))
        uses = [(m.position, m.layer, m.source) for m in self.moves if isinstance(m.source, Tensor)]
        for number, (index, _, step) in enumerate(self._steps.all):
            uses += [(compute_position(number), index, o) for o in operands_of(step) if isinstance(o, Tensor)]
        fetches = l3_fetches(uses, self._policy)
        for fetch in fetches:
            self._in_l2(fetch.tensor, max(fetch.position, 0))
        self._keep_side_by_side()
        self.moves = reserve_records(
            self._steps, self.moves, fetches, self.bundles, self._page_of, self._policy.commands
        )
        slots = []
        for number, (index, tile, step) in enumerate(self._steps.all):
            used = {o: places[index][o] for o in operands_of(step) if isinstance(o, Local)}
            slots.append(Slot(number, index, tile, step, used))
        pages = tuple(self._page_of[s.index] for s in slots)
        kept = (tuple(self.bundles.made), pages, self.resident, self.l2_alive, tuple(fetches))
        return Schedule(tuple(slots), tuple(self.moves), tuple(self.blocks), *kept)

    def _block(self, index: int, name: str, size: int, first: int, last: int) -> Block:
        block = Block(name, size, first, last, index)
        self.blocks.append(block)
        return block

    def _keep_side_by_side(self) -> None:
        """Whatever one of several teams needs has its place as long as any of them is at work."""
        for first, last in dict.fromkeys(self._steps.side_by_side.values()):
            start, end = compute_position(first), load_position(last + 1)
            for block in self.blocks:
                if block.first <= end and start <= block.last:
                    block.extend(start)
                    block.extend(end)

    # --- one layer -------------------------------------------------------------------------------------------

    def _layer(self, index: int, choice: Choice) -> dict[Local, Place]:
        """Blocks and moves of a layer; returns where its buffers lie."""
        places: dict[Local, Place] = {}
        self._constants(index, choice, places)
        live: dict[_Piece, tuple[int, Block]] = {}
        for tile, recipe in enumerate(choice.recipes):
            for load in recipe.loads:
                if load.local not in places and load.local.inside is None:
                    self._activation(index, tile, load, live, places)
            for store in recipe.stores:
                self._output(index, tile, store, places)
            for load in recipe.loads:
                if load.local.inside is not None:
                    self._in_place(index, tile, load, places)
            self._intermediates(index, tile, recipe, places)
        for tile, recipe in enumerate(choice.recipes):
            for store in recipe.stores:
                self._store(index, tile, store, places)
            for slot in self._steps.slots(index, tile):
                self._use(slot, places)
        return places

    def _use(self, slot: int, places: dict[Local, Place]) -> None:
        """Every operand of a step is alive at that step, in L1 or in L2."""
        for operand in operands_of(self._steps.all[slot].step):
            if isinstance(operand, Local):
                places[operand].block.extend(self._steps.end_of_use(slot))
                places[operand].block.expect_use(self._steps.end_of_job(slot))
            elif operand.storage.kind != "constant" and operand.storage.level != "l1":
                self._in_l2(operand.storage, compute_position(slot))
                self._written[operand.storage] = [(whole_of(operand.storage), compute_position(slot))]

    def _early(self, index: int, tile: int, needed: int) -> tuple[int, bool]:
        """Position to fetch what a tile needs at slot `needed`, and whether that is ahead of the layer."""
        begin = needed if tile else self._steps.begin(needed)
        if begin == 0:
            return BOOT, False
        if not self._policy.overlap:
            return load_position(begin), False
        if tile and self._choices[index].two_copies:
            return compute_position(min(self._steps.slots(index, tile - 1)[0], needed - 1)), False
        lead = self._policy.leads.get(index, 0)
        if tile == 0 and lead:
            return compute_position(max(0, begin - lead)), True
        return load_position(begin), False

    def _constants(self, index: int, choice: Choice, places: dict[Local, Place]) -> None:
        """Bundles: one for what all tiles share, one per tile for what changes; records with the first or apart."""
        slots = sorted(s for t in range(len(choice.recipes)) for s in self._steps.slots(index, t))
        small = PAGE_SHARE * choice.pages * choice.descriptor_bytes <= self._l1_bytes
        shared, changing = self.bundles.divide(choice.recipes)
        if shared or small:
            size = sum(box_bytes(load.tensor, load.box) for load in shared)
            common, block = self._common(index, slots[0], size + choice.descriptor_bytes)
            block.extend(self._steps.end_of_use(slots[-1]))
            self.bundles.place(common, block, shared, places)
            if small:
                self._make_page(common, block, slots)
        if not small:
            self._pages(index, choice, slots)
        carried: tuple[tuple[object, ...], Bundle, Block] | None = None
        known: dict[tuple[object, ...], Bundle] = {}
        for tile, pieces in enumerate(changing):
            if not pieces:
                continue
            mine = self._steps.slots(index, tile)
            key = tuple((load.tensor.storage, load.box) for load in pieces)
            if carried is not None and carried[0] == key:
                _, bundle, block = carried
            else:
                bundle = known[key] if key in known else self.bundles.new(index)
                known[key] = bundle
                block = self._fetch(index, tile, bundle, mine[0])
            block.extend(self._steps.end_of_use(mine[-1]))
            self.bundles.place(bundle, block, pieces, places)
            carried = (key, bundle, block)

    def _common(self, index: int, needed: int, size: int) -> tuple[Bundle, Block]:
        """The bundle of what a layer's tiles share: that of the layers before, as long as it stays small."""
        if self._open is not None and self._open[2] + size <= self._policy.bundle_bytes:
            bundle, block, known = self._open
        else:
            bundle, known = self.bundles.new(index), 0
            block = self._fetch(index, 0, bundle, needed)
        self._open = (bundle, block, known + size)
        return bundle, block

    def _pages(self, index: int, choice: Choice, slots: Sequence[int]) -> None:
        """Records and descriptors of many steps: as few bundles as their share of L1 allows."""
        count = min(len(slots), -(-PAGE_SHARE * choice.pages * choice.descriptor_bytes // self._l1_bytes))
        for number in range(count):
            mine = slots[number * len(slots) // count : (number + 1) * len(slots) // count]
            page = self.bundles.new(index)
            block = self._fetch(index, self._steps.all[mine[0]].tile, page, mine[0])
            block.extend(self._steps.end_of_use(mine[-1]))
            self._make_page(page, block, mine)

    def _fetch(self, index: int, tile: int, bundle: Bundle, needed: int) -> Block:
        position, ahead = self._early(index, tile, needed)
        block = self._block(index, bundle.name, 0, max(position, 0), max(position, 0))
        self.moves.append(Move(index, tile, False, position, bundle, (), Place(block), compute_position(needed), ahead))
        return block

    def _make_page(self, bundle: Bundle, block: Block, slots: Sequence[int]) -> None:
        # What precedes the next page's first step is told by this one.
        block.extend(load_position(slots[-1] + 1))
        for slot in slots:
            # Room for the descriptor; its offset follows when the bundle is laid out.
            bundle.descriptors[slot] = 4 * self._steps.all[slot].step.words
            self._page_of[slot] = bundle

    def _activation(
        self, index: int, tile: int, step: Load, live: dict[_Piece, tuple[int, Block]], places: dict[Local, Place]
    ) -> None:
        storage, slots = step.tensor.storage, self._steps.uses(index, tile, step.local)
        start, end = slots[0], self._steps.end_of_use(slots[-1])
        if index in self._policy.resident.get(storage, ()):
            block = self.resident.get(storage) or self._bring(index, storage, start)
            block.extend(end)
            places[step.local] = _part_of(block, step)
            return
        key = (storage, step.tensor.first, step.box)
        if key in live and live[key][0] >= tile - 1:
            block = live[key][1]
            block.extend(end)
            block.bytes = max(block.bytes, step.local.bytes)
        else:
            position, ahead = self._early(index, tile, start)
            if ahead and (storage.kind != "input" or storage.level == "l3"):
                # Data of other layers is fetched one step ahead at most; the network's own is there from the start.
                position = compute_position(self._steps.begin(start) - 1)
            written = self._written_at(range_of(step))
            if position <= written:
                begin = self._steps.begin(start)
                position, ahead = self._after(written, begin if written < load_position(begin) else start), False
            block = self._block(index, step.local.name, step.local.bytes, max(position, 0), end)
            moved = self._split(index, step.transfers) if step.box.elements else ()
            what = (step.tensor, moved, Place(block), compute_position(start), ahead, step.local)
            self.moves.append(Move(index, tile, False, position, *what))
            if storage.kind != "constant" or self._policy.level(storage) == "l3":
                self._in_l2(storage, max(position, 0))
        live[key] = (tile, block)
        places[step.local] = Place(block)

    def _in_place(self, index: int, tile: int, step: Load, places: dict[Local, Place]) -> None:
        """An operand that is brought to where it belongs in the result."""
        assert step.local.inside is not None
        place, start = places[step.local.inside], self._steps.uses(index, tile, step.local)[0]
        position, ahead = self._early(index, tile, start)
        if tile and place.offset:
            # The result stays in L1 as a whole: the tile before may write a little into what belongs to this one.
            position, ahead = load_position(start), False
        offset, row_bytes = step.offset, box_bytes(step.tensor, step.box) // step.rows
        assert offset is not None and step.tensor.storage.kind == "input"
        moved = self._split(index, pitched_transfers(offset, step.rows, row_bytes, step.pitch))
        place.block.extend(max(position, 0))
        needed = compute_position(start)
        self.moves.append(Move(index, tile, False, position, step.tensor, moved, place, needed, ahead, step.local))
        self._in_l2(step.tensor.storage, max(position, 0))
        places[step.local] = place

    def _bring(self, index: int, storage: Tensor, start: int) -> Block:
        """A network input, a constant, or an activation that left L1, comes whole."""
        begin = self._steps.begin(start)
        start = begin if self._written_at(whole_of(storage)) < load_position(begin) else start
        position, ahead = (BOOT if start == 0 else load_position(start)), False
        lead = self._policy.leads.get(index, 0)
        lead = lead if storage.kind in ("input", "constant") else min(1, lead)
        early = compute_position(max(0, start - lead))
        if start and lead and self._policy.overlap and self._written_at(whole_of(storage)) < early:
            position, ahead = early, True
        size = storage.spec.bytes
        block = self._block(index, storage.name, size, max(position, 0), compute_position(start))
        whole = self._split(index, [Transfer(0, 0, size, size, size)]) if size else ()
        self.moves.append(Move(index, 0, False, position, storage, whole, Place(block), compute_position(start), ahead))
        if storage.kind != "constant":
            self._in_l2(storage, max(position, 0))
        self.resident[storage] = block
        return block

    def _output(self, index: int, tile: int, step: Store, places: dict[Local, Place]) -> None:
        if step.local in places:
            return
        storage, slots = step.tensor.storage, self._steps.uses(index, tile, step.local)
        first = compute_position(slots[0])
        if self._policy.resident.get(storage):
            if storage not in self.resident:
                self.resident[storage] = self._block(index, storage.name, storage.spec.bytes, first, first)
            places[step.local] = _part_of(self.resident[storage], step)
        else:
            places[step.local] = Place(self._block(index, step.local.name, step.local.bytes, first, first))

    def _intermediates(self, index: int, tile: int, recipe: Recipe, places: dict[Local, Place]) -> None:
        for local in recipe.locals:
            if local not in places:
                first = compute_position(self._steps.uses(index, tile, local)[0])
                places[local] = Place(self._block(index, local.name, local.bytes, first, first))

    def _store(self, index: int, tile: int, step: Store, places: dict[Local, Place]) -> None:
        storage = step.tensor.storage
        readers = [i for i in self._l2_readers.get(storage, []) if i >= index]
        if not (readers or storage in self._outputs or storage.kind == "output") or not step.box.elements:
            return
        after = self._steps.uses(index, tile, step.local)[-1] + 1
        # An output of the network is read by nobody here, so that it may always leave during the next step.
        leaves = storage in self._outputs or storage.kind == "output"
        choice = self._choices[index]
        streams = choice.two_copies or (leaves and not choice.exclusive)
        overlapped = streams and self._policy.overlap and after < len(self._steps.all)
        if overlapped and self._steps.all[after].layer != index and self._steps.all[after].layer in readers:
            overlapped = not self._reads(after, range_of(step))
        position = compute_position(after) if overlapped else store_position(after)
        if not readers and storage in self.resident:
            position = self._beside_reader(index, after, storage) or position
        moved = self._split(index, step.transfers)
        place = places[step.local]
        place.block.extend(position)
        if overlapped:
            # A job is submitted at once: the transfer runs on beside the kernel behind it, which writes elsewhere then.
            place.block.expect_use(self._steps.next_kernel(after))
        self.moves.append(Move(index, tile, True, position, step.tensor, moved, place, local=step.local))
        self._written.setdefault(storage, []).append((range_of(step), position))
        self._in_l2(storage, position)

    def _written_at(self, wanted: TensorRange) -> int:
        """Position at which the last of some bytes in L2 were written; before everything else where they were not."""
        found = (position for some, position in self._written.get(wanted.tensor, ()) if meet((some,), (wanted,)))
        return max(found, default=BOOT - 1)

    def _after(self, written: int, start: int) -> int:
        """Position to load what was written before slot `start`: beside a kernel between, if there is one."""
        if not self._policy.interleave:
            return load_position(start)
        between = range(written // 3 + 1, start)
        kernels = [s for s in between if not isinstance(self._steps.all[s].step, Job)]
        # The first kernel is what the store itself runs beside.
        slots = [s for s in between if kernels and s > kernels[0]] or list(between)[-1:]
        return compute_position(slots[0]) if slots and self._policy.overlap else load_position(start)

    def _reads(self, slot: int, written: TensorRange) -> bool:
        """Tell if the tile of a step loads some of these bytes, or the step itself reads them where they lie."""
        layer, tile, step = self._steps.all[slot]
        if any(isinstance(o, Tensor) and o.storage is written.tensor for o in operands_of(step)):
            return True
        loads = (s for s in self._choices[layer].recipes[tile].steps if isinstance(s, Load))
        return meet([range_of(s) for s in loads if s.tensor.storage is written.tensor], (written,))

    def _beside_reader(self, index: int, after: int, storage: Tensor) -> int | None:
        """A result of the network that later layers read in L1 leaves beside the first of them that runs on the cores.

        Right behind an accelerator's step it would make everybody wait for the job.
        """
        if not isinstance(self._steps.all[after - 1].step, Job) or not self._policy.overlap:
            return None
        for reader in sorted(self._policy.resident.get(storage, ())):
            slot = self._steps.slots(reader, 0)[0]
            if reader > index and slot >= after and isinstance(self._steps.all[slot].step, Call):
                return compute_position(slot)
        return None

    def _in_l2(self, storage: Tensor, position: int) -> None:
        first, last = self.l2_alive.get(storage, (position, position))
        self.l2_alive[storage] = (min(first, position), max(last, position))


def _part_of(block: Block, step: Load | Store) -> Place:
    """The place of a tile's buffer in the block that holds all of its tensor."""
    assert step.offset is not None
    block.bytes = max(block.bytes, step.offset + step.local.bytes)
    return Place(block, step.offset)
