"""Which jobs need not be told everything: the engine's registers still hold an earlier one."""

from __future__ import annotations

from typing import Any

from tvm_pulp.planning.tir.statements import SUBMIT, integer, statement_name
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.recipe import Changes, Job


def changed_registers(function: Any, tables: Tables) -> dict[int, Changes]:
    """Changes by the job's slot, in the order in which the main function submits.

    The first jobs of a program are not among them: nobody knows what ran before.
    """
    found: dict[int, Changes] = {}
    before: dict[str, list[Job]] = {}
    for made in function.body.seq:
        if statement_name(made) != SUBMIT:
            continue
        slot = integer(made, 1)
        step = tables.slots[slot].step
        assert isinstance(step, Job)
        jobs = before.setdefault(step.engine, [])
        if 0 < step.contexts <= len(jobs):
            changes = step.description.changes(jobs[-step.contexts].description)
            if changes is not None:
                found[slot] = changes
        jobs.append(step)
    return found
