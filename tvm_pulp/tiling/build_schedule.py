"""From chosen tilings to a schedule: order of compute steps, transfers with their positions, blocks with lifetimes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.tiling.bundles import BundleBuilder, descriptor_bytes, record_bytes
from tvm_pulp.tiling.commands import NO_LIMITS, CommandLimits, split_commands
from tvm_pulp.tiling.residency import Touched, contiguous_offset, touched_by
from tvm_pulp.tiling.schedule import (
    BOOT,
    Block,
    Bundle,
    Fetch,
    Move,
    Place,
    Schedule,
    Slot,
    compute_position,
    load_position,
    store_position,
)
from tvm_pulp.tiling.step_cost import step_cost
from tvm_pulp.uma.box import Box, Transfer, pitched_transfers, transfers
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Local, Recipe, Store, operands_of

# Records and descriptors of a layer travel together unless they would take more than this part of L1.
PAGE_SHARE = 12


@dataclass(frozen=True)
class LayerWork:
    """A layer's tiles in order. `overlap`: two copies of what streams, so that tile n + 1 arrives while n computes.

    Operands of a job that is `alone` may give way to those of the next step, which then waits for the job.
    """

    recipes: tuple[Recipe, ...]
    overlap: bool
    alone: bool = False

    @cached_property
    def order(self) -> list[tuple[int, Kernel | Call | Job]]:
        """Tile and step of all compute steps in their order."""
        return _compute_order(self)

    @cached_property
    def touched(self) -> Touched:
        """Activations that its tiles touch."""
        return touched_by(self.recipes)

    @cached_property
    def descriptor_bytes(self) -> int:
        """What records and descriptors take, about."""
        return descriptor_bytes(self.recipes)


@dataclass(frozen=True)
class Policy:
    """What stays in L1 between layers, and how early the constants of a layer are fetched."""

    # Readers (layer indices) that find an activation in L1.
    resident: Mapping[Tensor, frozenset[int]] = field(default_factory=dict)
    # Slots by which the constants of a layer are fetched ahead of its first step; 0 is none.
    lead: Mapping[int, int] = field(default_factory=dict)
    overlap: bool = True
    # Bytes that come from L3 at a time, at least: so much is fetched while what was fetched before is used.
    l3_batch: int = 0
    commands: CommandLimits = NO_LIMITS


def _compute_order(work: LayerWork) -> list[tuple[int, Kernel | Call | Job]]:
    """Compute steps of a layer. With overlap the cores finish tile n while the accelerator works on tile n + 1."""
    parts: list[tuple[list[Kernel | Call | Job], list[Kernel | Call | Job]]] = []
    for recipe in work.recipes:
        steps = [s for s in recipe.steps if isinstance(s, Kernel | Call | Job)]
        jobs = [i for i, s in enumerate(steps) if isinstance(s, Job)]
        cut = jobs[-1] + 1 if jobs else len(steps)
        parts.append((steps[:cut], steps[cut:]))
    order: list[tuple[int, Kernel | Call | Job]] = []
    if not work.overlap or not any(after for _, after in parts):
        for tile, (before, after) in enumerate(parts):
            order += [(tile, s) for s in (*before, *after)]
        return order
    for tile, (before, _) in enumerate(parts):
        order += [(tile, s) for s in before]
        if tile:
            order += [(tile - 1, s) for s in parts[tile - 1][1]]
    order += [(len(parts) - 1, s) for s in parts[-1][1]]
    return order


def build_schedule(network: Network, works: Sequence[LayerWork], policy: Policy, l1_bytes: int) -> Schedule:
    """The schedule, with blocks not placed yet."""
    return _Builder(network, works, policy, l1_bytes).build()


class _Builder:
    def __init__(self, network: Network, works: Sequence[LayerWork], policy: Policy, l1_bytes: int) -> None:
        self._network, self._works, self._policy, self._l1_bytes = network, works, policy, l1_bytes
        self.moves: list[Move] = []
        self.blocks: list[Block] = []
        self.bundles = BundleBuilder(works)
        self.resident: dict[Tensor, Block] = {}
        self.l2_alive: dict[Tensor, tuple[int, int]] = {}
        self._stored_at: dict[Tensor, int] = {}
        self._page_of: dict[int, Bundle] = {}
        self._order: list[tuple[int, int, Kernel | Call | Job]] = []
        self._slots_of: dict[tuple[int, int], list[int]] = {}
        for index, work in enumerate(works):
            for tile, step in work.order:
                self._slots_of.setdefault((index, tile), []).append(len(self._order))
                self._order.append((index, tile, step))
        self._outputs = {t.storage for t in network.outputs}
        self._l2_readers: dict[Tensor, list[int]] = {}
        for index, layer in enumerate(network.layers):
            for tensor in layer.inputs:
                if index not in policy.resident.get(tensor.storage, ()):
                    self._l2_readers.setdefault(tensor.storage, []).append(index)

    # --- whole network ---------------------------------------------------------------------------------------

    def _split(self, moved: Sequence[Transfer]) -> tuple[Transfer, ...]:
        return split_commands(moved, self._policy.commands)

    def build(self) -> Schedule:
        places = [self._layer(index, work) for index, work in enumerate(self._works)]
        self.moves.sort(key=lambda m: (m.position, m.ahead, m.outward))
        fetches = self._fetches()
        self._reserve_records(fetches)
        slots = []
        for number, (index, tile, step) in enumerate(self._order):
            used = {o: places[index][o] for o in operands_of(step) if isinstance(o, Local)}
            slots.append(Slot(number, index, tile, step, used, step_cost(step)))
        pages = tuple(self._page_of[s.index] for s in slots)
        kept = (tuple(self.bundles.made), pages, self.resident, self.l2_alive, tuple(fetches))
        return Schedule(tuple(slots), tuple(self.moves), tuple(self.blocks), *kept)

    def _fetches(self) -> list[Fetch]:
        """What comes from L3: fetched while what was fetched before is taken to L1.

        The I/O DMA tells only when it has nothing left to do, so a batch is issued at once and waited for as one.
        """
        wanted: dict[int, list[Tensor]] = {}
        owner: dict[Tensor, int] = {}
        for move in self.moves:
            if (
                isinstance(move.source, Tensor)
                and move.source.storage.level == "l3"
                and move.source.storage not in owner
            ):
                owner[move.source.storage] = move.layer
                wanted.setdefault(max(move.position, 0), []).append(move.source.storage)
        found = []
        before, first_use, batch = BOOT, BOOT, 0
        for position, tensors in sorted(wanted.items()):
            if batch == 0 or batch >= self._policy.l3_batch:
                before, first_use, batch = first_use, position, 0
            for tensor in tensors:
                found.append(Fetch(before, tensor, owner[tensor]))
                self._in_l2(tensor, max(before, 0))
                batch += tensor.spec.bytes
        return found

    def _reserve_records(self, fetches: Sequence[Fetch]) -> None:
        """Room for the step records of every page, in front of what else the bundle holds."""
        positions: dict[int, list[Move]] = {}
        for move in self.moves:
            if move.position != BOOT:
                positions.setdefault(move.position, []).append(move)
        for slot in range(len(self._order)):
            positions.setdefault(compute_position(slot), [])
        for fetch in fetches:
            if fetch.position != BOOT:
                positions.setdefault(fetch.position, [])
        needed: dict[Bundle, int] = {}
        for position, moves in positions.items():
            page = page_at(position, self._page_of)
            slot, part = divmod(position, 3)
            job = part == 2 and slot < len(self._order) and isinstance(self._order[slot][2], Job)
            count = sum(f.position == position for f in fetches)
            needed[page] = needed.get(page, 0) + record_bytes(moves, self._policy.commands, job=job, fetches=count)
        if self._order:
            last = self._page_of[len(self._order) - 1]
            needed[last] += record_bytes([], self._policy.commands, job=False)
        for bundle in self.bundles.made:
            self.bundles.finish(bundle, needed.get(bundle, 0))
        for number, move in enumerate(self.moves):
            if isinstance(move.source, Bundle):
                size = move.source.bytes
                move.place.block.bytes = size + move.source.slack
                self.moves[number] = replace(move, transfers=self._split([Transfer(0, 0, size, size, size)]))
        self.moves = [m for m in self.moves if m.transfers]

    def _block(self, index: int, name: str, size: int, first: int, last: int) -> Block:
        block = Block(name, size, first, last, index)
        self.blocks.append(block)
        return block

    # --- one layer -------------------------------------------------------------------------------------------

    def _layer(self, index: int, work: LayerWork) -> dict[Local, Place]:
        """Blocks and moves of a layer; returns where its buffers lie."""
        places: dict[Local, Place] = {}
        self._constants(index, work, places)
        live: dict[tuple[Tensor, Box], tuple[int, Block]] = {}
        for tile, recipe in enumerate(work.recipes):
            for step in recipe.steps:
                if isinstance(step, Load) and step.local not in places and step.local.inside is None:
                    self._activation(index, tile, work, step, live, places)
            for step in recipe.steps:
                if isinstance(step, Store):
                    self._output(index, tile, step, places)
            for step in recipe.steps:
                if isinstance(step, Load) and step.local.inside is not None:
                    self._in_place(index, tile, work, step, places)
            self._intermediates(index, tile, recipe, places)
        for tile, recipe in enumerate(work.recipes):
            for step in recipe.steps:
                if isinstance(step, Store):
                    self._store(index, tile, work, step, places)
            for slot in self._slots_of[index, tile]:
                self._use(slot, places)
        return places

    def _uses(self, index: int, tile: int, local: Local) -> list[int]:
        """Slots of a tile that touch a Local."""
        slots = self._slots_of[index, tile]
        return [s for s in slots if local in operands_of(self._order[s][2])] or slots[:1]

    def _end_of_use(self, slot: int) -> int:
        """Position until which a step may need its operands; a job runs on while the next step starts."""
        index, _, step = self._order[slot]
        runs_on = isinstance(step, Job) and self._policy.overlap and not self._works[index].alone
        return compute_position(slot + 1 if runs_on and slot + 1 < len(self._order) else slot)

    def _use(self, slot: int, places: dict[Local, Place]) -> None:
        """Every operand of a step is alive at that step, in L1 or in L2."""
        for operand in operands_of(self._order[slot][2]):
            if isinstance(operand, Local):
                places[operand].block.extend(self._end_of_use(slot))
            elif operand.storage.kind != "constant":
                self._in_l2(operand.storage, compute_position(slot))
                self._stored_at[operand.storage] = compute_position(slot)

    def _early(self, index: int, tile: int, work: LayerWork, needed: int) -> tuple[int, bool]:
        """Position to fetch what a tile needs at slot `needed`, and whether that is ahead of the layer."""
        if needed == 0:
            return BOOT, False
        if not self._policy.overlap:
            return load_position(needed), False
        if tile and work.overlap:
            return compute_position(min(self._slots_of[index, tile - 1][0], needed - 1)), False
        lead = self._policy.lead.get(index, 0)
        if tile == 0 and lead:
            return compute_position(max(0, needed - lead)), True
        return load_position(needed), False

    def _constants(self, index: int, work: LayerWork, places: dict[Local, Place]) -> None:
        """Bundles: one for what all tiles share, one per tile for what changes; records with the first or apart."""
        slots = sorted(s for t in range(len(work.recipes)) for s in self._slots_of[index, t])
        small = PAGE_SHARE * work.descriptor_bytes <= self._l1_bytes
        shared, changing = self.bundles.divide(work.recipes)
        if shared or small:
            common = self.bundles.new(index)
            block = self._fetch(index, 0, work, common, slots[0])
            block.extend(self._end_of_use(slots[-1]))
            self.bundles.place(common, block, shared, places)
            if small:
                self._make_page(common, block, slots)
        if not small:
            self._pages(index, work, slots)
        carried: tuple[tuple[object, ...], Bundle, Block] | None = None
        known: dict[tuple[object, ...], Bundle] = {}
        for tile, pieces in enumerate(changing):
            if not pieces:
                continue
            mine = self._slots_of[index, tile]
            key = tuple((t.storage, b) for t, b, _ in pieces)
            if carried is not None and carried[0] == key:
                _, bundle, block = carried
            else:
                bundle = known[key] if key in known else self.bundles.new(index)
                known[key] = bundle
                block = self._fetch(index, tile, work, bundle, mine[0])
            block.extend(self._end_of_use(mine[-1]))
            self.bundles.place(bundle, block, pieces, places)
            carried = (key, bundle, block)

    def _pages(self, index: int, work: LayerWork, slots: Sequence[int]) -> None:
        """Records and descriptors of many steps: as few bundles as their share of L1 allows."""
        count = min(len(slots), -(-PAGE_SHARE * work.descriptor_bytes // self._l1_bytes))
        for number in range(count):
            mine = slots[number * len(slots) // count : (number + 1) * len(slots) // count]
            page = self.bundles.new(index)
            block = self._fetch(index, self._order[mine[0]][1], work, page, mine[0])
            block.extend(self._end_of_use(mine[-1]))
            self._make_page(page, block, mine)

    def _fetch(self, index: int, tile: int, work: LayerWork, bundle: Bundle, needed: int) -> Block:
        position, ahead = self._early(index, tile, work, needed)
        block = self._block(index, bundle.name, 0, max(position, 0), max(position, 0))
        self.moves.append(Move(index, tile, False, position, bundle, (), Place(block), compute_position(needed), ahead))
        return block

    def _make_page(self, bundle: Bundle, block: Block, slots: Sequence[int]) -> None:
        # What precedes the next page's first step is told by this one.
        block.extend(load_position(slots[-1] + 1))
        for slot in slots:
            self.bundles.describe(bundle, slot, self._order[slot][2])
            self._page_of[slot] = bundle

    def _activation(
        self,
        index: int,
        tile: int,
        work: LayerWork,
        step: Load,
        live: dict[tuple[Tensor, Box], tuple[int, Block]],
        places: dict[Local, Place],
    ) -> None:
        storage, slots = step.tensor.storage, self._uses(index, tile, step.local)
        start, end = slots[0], self._end_of_use(slots[-1])
        if index in self._policy.resident.get(storage, ()):
            offset = contiguous_offset(step.tensor, step.box)
            assert offset is not None
            block = self.resident.get(storage) or self._bring(index, storage, start)
            block.extend(end)
            block.bytes = max(block.bytes, offset + step.local.bytes)
            places[step.local] = Place(block, offset)
            return
        key = (storage, step.box)
        if key in live and live[key][0] >= tile - 1:
            block = live[key][1]
            block.extend(end)
            block.bytes = max(block.bytes, step.local.bytes)
        else:
            position, ahead = self._early(index, tile, work, start)
            if ahead and storage.kind != "input":
                # Data of other layers is fetched one step ahead at most; the network's own is there from the start.
                position = compute_position(start - 1)
            if position <= self._stored_at.get(storage, BOOT - 1):
                position, ahead = load_position(start), False
            block = self._block(index, step.local.name, step.local.bytes, max(position, 0), end)
            itemsize = np.dtype(step.tensor.spec.dtype).itemsize
            moved = self._split(transfers(step.box, step.tensor.spec.shape, itemsize)) if step.box.elements else ()
            needed = compute_position(start)
            self.moves.append(Move(index, tile, False, position, step.tensor, moved, Place(block), needed, ahead))
            if storage.kind != "constant" or storage.level == "l3":
                self._in_l2(storage, max(position, 0))
        live[key] = (tile, block)
        places[step.local] = Place(block)

    def _in_place(self, index: int, tile: int, work: LayerWork, step: Load, places: dict[Local, Place]) -> None:
        """An operand that is brought to where it belongs in the result."""
        assert step.local.inside is not None
        place, start = places[step.local.inside], self._uses(index, tile, step.local)[0]
        position, ahead = self._early(index, tile, work, start)
        if tile and place.offset:
            # The result stays in L1 as a whole: the tile before may write a little into what belongs to this one.
            position, ahead = load_position(start), False
        storage, row_bytes = step.tensor.storage, step.box.elements // step.rows
        row_bytes *= np.dtype(step.tensor.spec.dtype).itemsize
        offset = contiguous_offset(step.tensor, step.box)
        assert offset is not None and storage.kind == "input"
        moved = self._split(pitched_transfers(offset, step.rows, row_bytes, step.pitch))
        place.block.extend(max(position, 0))
        needed = compute_position(start)
        self.moves.append(Move(index, tile, False, position, step.tensor, moved, place, needed, ahead))
        self._in_l2(storage, max(position, 0))
        places[step.local] = place

    def _bring(self, index: int, storage: Tensor, start: int) -> Block:
        """A network input, or an activation that left L1, comes whole."""
        position, ahead = (BOOT if start == 0 else load_position(start)), False
        lead = self._policy.lead.get(index, 0) if storage.kind == "input" else min(1, self._policy.lead.get(index, 0))
        early = compute_position(max(0, start - lead))
        if start and lead and self._policy.overlap and self._stored_at.get(storage, BOOT - 1) < early:
            position, ahead = early, True
        size = storage.spec.bytes
        block = self._block(index, storage.name, size, max(position, 0), compute_position(start))
        whole = self._split([Transfer(0, 0, size, size, size)]) if size else ()
        self.moves.append(Move(index, 0, False, position, storage, whole, Place(block), compute_position(start), ahead))
        self._in_l2(storage, max(position, 0))
        self.resident[storage] = block
        return block

    def _output(self, index: int, tile: int, step: Store, places: dict[Local, Place]) -> None:
        if step.local in places:
            return
        storage, slots = step.tensor.storage, self._uses(index, tile, step.local)
        first = compute_position(slots[0])
        if self._policy.resident.get(storage):
            offset = contiguous_offset(step.tensor, step.box)
            assert offset is not None
            block = self.resident.get(storage)
            if block is None:
                block = self.resident[storage] = self._block(index, storage.name, storage.spec.bytes, first, first)
            block.bytes = max(block.bytes, offset + step.local.bytes)
            places[step.local] = Place(block, offset)
        else:
            places[step.local] = Place(self._block(index, step.local.name, step.local.bytes, first, first))

    def _intermediates(self, index: int, tile: int, recipe: Recipe, places: dict[Local, Place]) -> None:
        for local in recipe.locals:
            if local not in places:
                first = compute_position(self._uses(index, tile, local)[0])
                places[local] = Place(self._block(index, local.name, local.bytes, first, first))

    def _store(self, index: int, tile: int, work: LayerWork, step: Store, places: dict[Local, Place]) -> None:
        storage = step.tensor.storage
        readers = [i for i in self._l2_readers.get(storage, []) if i >= index]
        if not (readers or storage in self._outputs or storage.kind == "output") or not step.box.elements:
            return
        after = self._uses(index, tile, step.local)[-1] + 1
        overlapped = work.overlap and self._policy.overlap and after < len(self._order)
        if overlapped and self._order[after][0] != index and self._order[after][0] in readers:
            overlapped = False
        position = compute_position(after) if overlapped else store_position(after)
        itemsize = np.dtype(step.tensor.spec.dtype).itemsize
        moved = self._split(transfers(step.box, step.tensor.spec.shape, itemsize))
        place = places[step.local]
        place.block.extend(position)
        self.moves.append(Move(index, tile, True, position, step.tensor, moved, place))
        self._stored_at[storage] = max(position, self._stored_at.get(storage, position))
        self._in_l2(storage, position)

    def _in_l2(self, storage: Tensor, position: int) -> None:
        first, last = self.l2_alive.get(storage, (position, position))
        self.l2_alive[storage] = (min(first, position), max(last, position))


def page_at(position: int, pages: Mapping[int, Bundle]) -> Bundle:
    """The page that tells a position: what precedes the first step of a page stands in the page before."""
    slot, part = divmod(position, 3)
    if slot >= len(pages):
        return pages[len(pages) - 1]
    if part != 2 and slot:
        return pages[slot - 1]
    return pages[slot]
