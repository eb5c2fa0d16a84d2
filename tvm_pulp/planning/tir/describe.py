"""The plan as plain data, with the program it became: what the verifier, the archive and pictures are made from.

Contents of memory have names: `x` is the tensor x itself, byte by byte; `x[0:4, 0:8]` the packed box of it;
`raw@17` something that step 17 made; `bundle_3` a bundle.
"""

from __future__ import annotations

from typing import Any

from tvm_pulp.planning.tiling.plan import LayerPlan, Planner
from tvm_pulp.planning.tiling.schedule.constant_bundles import step_words
from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Bundle, Move, Slot
from tvm_pulp.planning.tiling.schedule.step_records import page_at
from tvm_pulp.planning.tir import statements as tir
from tvm_pulp.planning.tir.changed_registers import changed_registers
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.planning.tir.statements import integer, statement_name
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.contiguous import contiguous_offset
from tvm_pulp.uma.recipe import Job, Kernel, Load, Local, Store

Record = dict[str, Any]


def describe(lowered: LoweredPlan) -> Record:
    """Everything that was decided, and the program that came of it."""
    plan = lowered.plan
    return {
        "soc": plan.soc,
        "cores": plan.cores,
        "l1_bytes": plan.l1_bytes,
        "l1_peak": plan.l1_peak,
        "double_buffer": plan.overlap,
        "l3_batch": plan.policy.l3_batch,
        "bundle_bytes": plan.policy.bundle_bytes,
        "interleave": plan.policy.interleave,
        "planner": _planner(plan.planner),
        "l2": {
            "size": plan.arena.size,
            "largest_live_set": plan.arena.largest_live_set,
            "tensors": [
                {"name": t.name, "offset": plan.arena.offsets[t], "bytes": t.spec.bytes, "alive": list(alive)}
                for t, alive in plan.schedule.l2_alive.items()
                if t in plan.arena.offsets
            ],
        },
        "blocks": [
            {"name": b.name, "offset": b.offset, "bytes": b.bytes, "alive": [b.first, b.last]}
            for b in plan.schedule.blocks
        ],
        "constants": [{"name": t.name, "level": level, "bytes": t.spec.bytes} for t, level in plan.constants().items()],
        # Caches that stay between calls, by the input that holds their earlier rows.
        "state": [
            {"name": plan.network.inputs[s.past].name, "level": s.level, "bytes": s.bytes} for s in plan.network.states
        ],
        "bundles": [_bundle(b) for b in plan.schedule.bundles],
        "inputs": [t.storage.name for t in plan.network.inputs],
        "outputs": [t.storage.name for t in plan.network.outputs],
        # Layers that find an activation in L1, by its name.
        "resident": {t.name: sorted(readers) for t, readers in plan.policy.resident.items()},
        "layers": [_layer(p, plan.policy.lead.get(index, 0)) for index, p in enumerate(plan.layers)],
        "program": _Program(lowered).steps(),
    }


def _planner(planner: Planner | None) -> Record | None:
    """How the plan was found; seconds on the wall are left out, so that archives do not depend on them."""
    if planner is None:
        return None
    return {
        "name": planner.name,
        "chosen": planner.chosen,
        "attempts": planner.attempts,
        "status": planner.status,
        "objective_cycles": planner.objective_cycles,
        "bound_cycles": planner.bound_cycles,
        "gap": None if planner.gap is None else round(planner.gap, 6),
        "deterministic_time": planner.deterministic_time,
    }


def _layer(plan: LayerPlan, lead: int) -> Record:
    tiling = plan.tiling
    return {
        "name": plan.layer.name,
        "op": plan.layer.operator,
        "nodes": list(plan.layer.nodes),
        "engine": plan.engine,
        "form": tiling.form.name,
        "tile": list(tiling.size),
        "tiles": [{"start": list(b.start), "size": list(b.size)} for b in tiling.tiles],
        "overlap": plan.overlap,
        "alone": plan.alone,
        "lead": lead,
        "estimated_cycles": plan.estimated_cycles,
        "outputs": [
            {"name": t.storage.name, "shape": list(t.spec.shape), "bytes": t.spec.bytes} for t in plan.layer.outputs
        ],
    }


def _bundle(bundle: Bundle) -> Record:
    pieces = [
        {"content": f"{p.tensor.storage.name}{p.box}", "offset": p.offset, "bytes": _box_bytes(p.tensor, p.box)}
        for p in bundle.pieces
    ]
    return {"name": bundle.name, "bytes": bundle.bytes, "pieces": pieces}


def _box_bytes(tensor: Tensor, box: Any) -> int:
    return int(box.elements * tensor.spec.bytes // max(1, tensor.spec.elements))


class _Program:
    """Steps with their waits, barriers and actions; every action with what it reads and writes."""

    def __init__(self, lowered: LoweredPlan) -> None:
        self._plan, self._tables, self._function = lowered.plan, lowered.tables, lowered.function
        plan = self._plan
        self._page_at = {m.source: m.place.address for m in lowered.tables.moves if isinstance(m.source, Bundle)}
        self._pages = dict(enumerate(plan.schedule.pages))
        self._changed = changed_registers(lowered.function, lowered.tables)
        # What each Local of a tile is: part of a tensor, or made by the step that writes it first.
        self._content: dict[Local, tuple[str, int]] = {}
        for layer in plan.layers:
            for recipe in layer.recipes:
                for step in recipe.steps:
                    if isinstance(step, Load | Store):
                        pitch = f" every {step.pitch} bytes" if isinstance(step, Load) and step.pitch else ""
                        self._content[step.local] = (f"{step.tensor.storage.name}{step.box}{pitch}", 0)
        self._slots: dict[tuple[int, int], list[Slot]] = {}
        for slot in plan.schedule.slots:
            self._slots.setdefault((slot.layer, slot.tile), []).append(slot)
        self._boxes = {
            s.local: (s.tensor, s.box)
            for layer in plan.layers
            for r in layer.recipes
            for s in r.steps
            if isinstance(s, Load | Store)
        }

    def steps(self) -> list[Record]:
        found: list[Record] = []
        waits: list[Any] = []
        barrier = False
        for made in self._function.body.seq:
            name = statement_name(made)
            if name == tir.STEP:
                step: Record = {"position": integer(made, 0), "waits": waits, "barrier": barrier, "actions": []}
                if integer(made, 0) != BOOT and self._pages:
                    page = page_at(integer(made, 0), self._pages)
                    step["page"] = {"bundle": page.name, "offset": self._page_at[page], "bytes": page.record_bytes}
                found.append(step)
                waits, barrier = [], False
            elif name == tir.WAIT_DMA:
                waits.append({"agent": integer(made, 0), "group": integer(made, 1)})
            elif name == tir.WAIT_JOB:
                waits.append({"agent": 0, "ticket": integer(made, 0)})
            elif name == tir.WAIT_L3:
                waits.append({"agent": 0, "l3": True})
            elif name in tir.FETCHES:
                found[-1]["actions"].append(self._fetch(made))
            elif name == tir.BARRIER:
                barrier = True
            elif name == tir.BEGIN:
                found[-1]["actions"].append({"do": "begin", "agent": integer(made, 0), "group": integer(made, 1)})
            elif name in (tir.CALL, tir.SUBMIT):
                found[-1]["actions"].append(self._compute(made, name))
            elif name.startswith("dma_"):
                found[-1]["actions"].append(self._transfer(made, name))
        if found and (waits or barrier):
            found.append({"position": None, "waits": waits, "barrier": barrier, "actions": []})
        return found

    def _compute(self, made: Any, name: str) -> Record:
        slot: Slot = self._tables.slots[integer(made, 1)]
        step = slot.step
        reads = step.inputs if isinstance(step, Kernel) else step.reads
        writes = (*step.outputs, *step.workspaces) if isinstance(step, Kernel) else step.writes
        action: Record = {"do": "job" if name == tir.SUBMIT else "kernel", "layer": slot.layer, "tile": slot.tile}
        if isinstance(step, Job):
            action |= {"engine": step.engine, "ticket": integer(made, 3), "queue": step.queue}
            action["words"] = self._changed[slot.index].words if slot.index in self._changed else step.words
        else:
            action["op"] = step.operator if isinstance(step, Kernel) else step.function
        action["cycles"] = slot.cost.cycles
        if slot.cost.cold_cycles:
            action |= {"cold_cycles": slot.cost.cold_cycles, "code": slot.cost.code}
        page = self._plan.schedule.pages[slot.index]
        first = page.descriptors[slot.index]
        action["descriptor"] = {
            "space": "L1",
            "start": self._page_at[page] + first,
            "bytes": 4 * step_words(step),
            "content": page.name,
            "from": first,
        }
        action["reads"] = [self._operand(slot, o) for o in reads]
        action["writes"] = [self._operand(slot, o) for o in writes]
        return action

    def _operand(self, slot: Slot, operand: Local | Tensor) -> Record:
        if isinstance(operand, Tensor):
            return {
                **self._outside(operand, 0),
                "bytes": operand.spec.bytes,
                "content": operand.storage.name,
                "from": 0,
            }
        content, offset = self._content.setdefault(operand, (f"{operand.name}@{slot.index}", 0))
        place = slot.places[operand]
        if operand in self._boxes:
            tensor, box = self._boxes[operand]
            if self._plan.schedule.resident.get(tensor.storage) is place.block:
                content, offset = tensor.storage.name, contiguous_offset(tensor, box) or 0
        entry = {"space": "L1", "start": place.address, "bytes": operand.spec.bytes, "content": content, "from": offset}
        # Engines read and write whole beats behind an operand.
        return {**entry, "reach": operand.bytes} if isinstance(slot.step, Job) else entry

    def _outside(self, tensor: Tensor, offset: int) -> Record:
        storage = tensor.storage
        if storage in self._plan.arena.offsets:
            return {"space": "L2", "start": self._plan.arena.offsets[storage] + offset}
        return {"space": storage.name, "start": offset}

    def _fetch(self, made: Any) -> Record:
        start = int(made.value.args[2].args[1].value)
        fetch = next(f for f in self._plan.schedule.fetches if self._plan.arena.offsets[f.tensor] == start
                     and f.position == integer(made, 0))  # fmt: skip
        access = {"space": "L2", "start": start, "bytes": integer(made, 3), "content": fetch.tensor.name, "from": 0}
        return {"do": "fetch", "layer": fetch.layer, "agent": 0, "reads": [], "writes": [access]}

    def _transfer(self, made: Any, name: str) -> Record:
        move: Move = self._tables.moves[integer(made, 2)]
        arguments = made.value.args[4:]
        action: Record = {"layer": move.layer, "tile": move.tile, "agent": integer(made, 0), "ahead": move.ahead}
        if name == tir.BUNDLE:
            local, _, offset, size = arguments
            assert isinstance(move.source, Bundle)
            inside = {"space": "L1", "start": int(local.args[1].value), "bytes": int(size.value)}
            inside |= {"content": move.source.name, "from": int(offset.value)}
            return {"do": "load", **action, "reads": [], "writes": [inside]}
        outward = name.startswith(tir.STORE)
        target, source, size, *lines = arguments
        local = source if outward else target
        assert isinstance(move.source, Tensor)
        start = int(local.args[1].value)
        packed = start - move.place.address
        t = next(t for t in move.transfers if t.local == packed)
        resident = self._plan.schedule.resident.get(move.source.storage) is move.place.block
        content, first = (move.source.storage.name, t.external) if resident else self._box_content(move, packed)
        inside = {"space": "L1", "start": start, "bytes": int(size.value), "content": content, "from": first}
        outside = {**self._outside(move.source, t.external), "bytes": int(size.value)}
        outside |= {"content": move.source.storage.name, "from": t.external}
        if lines:
            outside |= {"line": int(lines[0].value), "stride": int(lines[1].value)}
        reads, writes = ([inside], [outside]) if outward else ([outside], [inside])
        return {"do": "store" if outward else "load", **action, "reads": reads, "writes": writes}

    def _box_content(self, move: Move, packed: int) -> tuple[str, int]:
        """The box that a move brings or takes: found by the block it lies in."""
        recipe = self._plan.layers[move.layer].recipes[move.tile]
        for step in recipe.steps:
            if not isinstance(step, Store if move.outward else Load):
                continue
            assert isinstance(step, Load | Store)
            if step.tensor.storage is not getattr(move.source, "storage", None):
                continue
            slots = self._slots[move.layer, move.tile]
            if any(s.places.get(step.local) and s.places[step.local].block is move.place.block for s in slots):
                return self._content[step.local][0], packed
        raise RuntimeError(f"layer {move.layer}: a transfer belongs to no step")
