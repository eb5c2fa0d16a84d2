"""Bytes that the statements of the main function touch, once buffers have their places."""

from __future__ import annotations

from typing import Any

from tvm_pulp.planning.tiling.schedule.schedule import Slot
from tvm_pulp.planning.tir.regions import Access, Region
from tvm_pulp.planning.tir.statements import (
    BUNDLE,
    CALL,
    FETCHES,
    L1,
    L2,
    LOAD,
    STORE,
    SUBMIT,
    integer,
    place_values,
    statement_name,
)
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import Job, Kernel, Local


def access_of(tables: Tables, made: Any) -> Access:
    """What a statement reads and writes."""
    name = statement_name(made)
    if name in (SUBMIT, CALL):
        return _compute_access(tables, tables.slots[integer(made, 1)])
    if name == BUNDLE:
        return Access((), (_region(made.value.args[3], integer(made, 5)),))
    if name in FETCHES:
        return Access((), (_region(made.value.args[2], integer(made, 3)),))
    if not name.startswith((LOAD, STORE)):
        return Access()
    target, source, *sizes = made.value.args[3:]
    outward = name.startswith(STORE)
    size, line, stride = (*(int(s.value) for s in sizes), 0, 0)[:3]
    local, external = (source, target) if outward else (target, source)
    inside, outside = _region(local, size), _region(external, size, line, stride)
    return Access((inside,), (outside,)) if outward else Access((outside,), (inside,))


def _region(place: Any, size: int, line: int = 0, stride: int = 0) -> Region:
    kind, values = place_values(place)
    if kind in (L1, L2):
        return Region(kind, int(values[0]), size, line, stride)
    return Region(str(values[0]), int(values[1]), size, line, stride)


def _compute_access(tables: Tables, slot: Slot) -> Access:
    step, arena = slot.step, tables.plan.arena.offsets
    reads = step.inputs if isinstance(step, Kernel) else step.reads
    writes = (*step.outputs, *step.workspaces) if isinstance(step, Kernel) else step.writes

    def region(operand: Local | Tensor, *, written: bool = False) -> Region:
        if isinstance(operand, Local):
            # What is read behind an operand does not matter, but engines write there as well.
            size = operand.bytes if written and isinstance(step, Job) else operand.spec.bytes
            return Region(L1, slot.places[operand].address, size)
        storage = operand.storage
        if storage in arena:
            return Region(L2, arena[storage], storage.spec.bytes)
        return Region(storage.name, 0, storage.spec.bytes)

    return Access(tuple(region(o) for o in reads), tuple(region(o, written=True) for o in writes))
