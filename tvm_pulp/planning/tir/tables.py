"""Records of the program from the entries of a plan's schedule, which statements name by number."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.program.actions import Access
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule.program import Block, Bundle, Fetch, Move, Slot
from tvm_pulp.planning.tir.statements import (
    AT,
    L1,
    L2,
    Address,
    CallKernel,
    FetchBytes,
    MoveBytes,
    SubmitJob,
)
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.box import Transfer
from tvm_pulp.uma.recipe import Job, Kernel, Local
from tvm_pulp.uma.teams import ALL_CORES


@dataclass(frozen=True)
class Tables:
    """The plan, by the keys that statements use."""

    plan: Plan

    @property
    def moves(self) -> tuple[Move, ...]:
        """By the number in transfers."""
        return self.plan.schedule.moves

    @property
    def slots(self) -> tuple[Slot, ...]:
        """By the number in `submit` and `call`."""
        return self.plan.schedule.slots

    @cached_property
    def tile_slots(self) -> dict[tuple[int, int], list[Slot]]:
        """By layer and tile."""
        return grouped(((slot.layer, slot.tile), slot) for slot in self.slots)

    @cached_property
    def bundle_block(self) -> dict[Bundle, Block]:
        """The place of a bundle when its records are read."""
        return {m.source: m.place.block for m in self.moves if isinstance(m.source, Bundle)}

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """Tensors that are moved from or to a place outside L1, by name."""
        moved = [m.source.storage for m in self.moves if isinstance(m.source, Tensor)]
        return {t.name: t for t in (*moved, *(f.tensor for f in self.plan.schedule.fetches))}

    @cached_property
    def pointers(self) -> dict[str, Tensor]:
        """Tensors that are not in the arena: code reaches them by name."""
        return {name: t for name, t in self.tensors.items() if t not in self.plan.arena.offsets}

    @cached_property
    def _made(self) -> dict[Local, str]:
        """Buffers that are no part of a tensor, by the step that touches them first."""
        found: dict[Local, str] = {}
        for slot in self.slots:
            for operand in slot.places:
                found.setdefault(operand, f"{operand.name}@{slot.index}")
        return found

    @cached_property
    def _l3_offsets(self) -> dict[Tensor, int]:
        return self.plan.l3_offsets()

    def _external(self, tensor: Tensor, offset: int) -> Address:
        """A place outside L1."""
        arena = self.plan.arena.offsets
        return Address(L2, arena[tensor] + offset) if tensor in arena else Address(AT, offset, tensor.name)

    # --- records ---------------------------------------------------------------------------------------------

    def transfer(self, number: int, part: Transfer) -> MoveBytes:
        """One command of a move."""
        move = self.moves[number]
        block, start = move.place.block, move.place.offset + part.local
        outside: tuple[Access, ...] = ()
        bundle, external = None, None
        if isinstance(move.source, Bundle):
            content, first, bundle = move.source.name, part.external, move.source.number
        else:
            storage = move.source.storage
            external = self._external(storage, part.external)
            space, at = self._outside(storage)
            lines = (part.line, part.stride) if part.is_2d else ()
            outside = (Access(space, at + part.external, part.bytes, storage.name, part.external, None, *lines),)
            if move.local is None or self.plan.schedule.resident.get(storage) is block:
                content, first = storage.name, part.external
            else:
                content, first = self.plan.layers[move.layer].recipes[move.tile].contents[move.local], part.local
        inside = (Access(L1, block.offset + start, part.bytes, content, first),)
        return MoveBytes(
            do="store" if move.outward else "load",
            layer=move.layer,
            tile=move.tile,
            agent=0,
            ahead=move.ahead,
            reads=inside if move.outward else outside,
            writes=outside if move.outward else inside,
            position=move.position,
            move=number,
            local=Address(L1, block.offset + start),
            external=external,
            bundle=bundle,
            offset=part.external if bundle is not None else 0,
        )

    def fetch_at(self, position: int, target: Address) -> Fetch:
        """The fetch of a position that brings its tensor to a place."""
        offsets = self.plan.arena.offsets
        return next(
            f for f in self.plan.schedule.fetches if f.position == position and target.offset == offsets[f.tensor]
        )

    def fetch(self, fetch: Fetch) -> FetchBytes:
        """A fetch of a whole tensor."""
        offset = self._l3_offsets.get(fetch.tensor, 0)
        size = fetch.tensor.spec.bytes
        access = Access(L2, self.plan.arena.offsets[fetch.tensor], size, fetch.tensor.name, 0)
        target = self._external(fetch.tensor, 0)
        return FetchBytes(layer=fetch.layer, writes=(access,), position=fetch.position, target=target, offset=offset)

    def compute(self, slot: Slot) -> CallKernel | SubmitJob:
        """The kernel or job of a slot; the job's ticket is not chosen yet."""
        step, cost = slot.step, slot.step.cost
        page = self.plan.schedule.pages[slot.index]
        block, first = self.bundle_block[page], page.descriptors[slot.index]
        common: dict[str, Any] = {
            "layer": slot.layer,
            "tile": slot.tile,
            "cycles": cost.cycles,
            "descriptor": Access(L1, block.offset + first, 4 * step.words, page.name, first),
            "reads": self._operands(slot, step.inputs if isinstance(step, Kernel) else step.reads),
            "writes": self._operands(
                slot, (*step.outputs, *step.workspaces) if isinstance(step, Kernel) else step.writes
            ),
            "position": slot.position,
            "slot": slot.index,
            "arguments": Address(L1, block.offset + first),
        }
        if isinstance(step, Job):
            facts: dict[str, Any] = {"engine": step.engine, "queue": step.queue, "words": step.words, "runs": step.runs}
            facts["port_cycles"] = step.port_cycles
            return SubmitJob(ticket=0, **facts, **common)
        code: dict[str, Any] = {"cold_cycles": cost.cold_cycles, "code": cost.code} if cost.cold_cycles else {}
        team = None if step.team == ALL_CORES else step.team
        return CallKernel(op=step.operator if isinstance(step, Kernel) else step.function, team=team, **code, **common)

    def _operands(self, slot: Slot, operands: tuple[Local | Tensor, ...]) -> tuple[Access, ...]:
        """Operands of a step. Engines read and write whole beats behind theirs."""
        recipe, resident = self.plan.layers[slot.layer].recipes[slot.tile], self.plan.schedule.resident
        found, contents = [], recipe.contents
        for operand in operands:
            if isinstance(operand, Tensor):
                storage = operand.storage
                found.append(Access(*self._outside(storage), operand.spec.bytes, storage.name, 0))
                continue
            content, offset, place = contents.get(operand) or self._made[operand], 0, slot.places[operand]
            moved = recipe.moved.get(operand) if resident else None
            if moved is not None and resident.get(moved.tensor.storage) is place.block:
                content, offset = moved.tensor.storage.name, moved.offset or 0
            reach, fill = (operand.bytes, operand.fill or None) if isinstance(slot.step, Job) else (None, None)
            found.append(Access(L1, place.address, operand.spec.bytes, content, offset, reach, fill=fill))
        return tuple(found)

    def _outside(self, storage: Tensor) -> tuple[str, int]:
        """Space and first byte of a tensor outside L1."""
        offsets = self.plan.arena.offsets
        return (L2, offsets[storage]) if storage in offsets else (storage.name, 0)
