"""Jobs that need not be told everything: the engine's registers still hold an earlier one."""

from collections.abc import Sequence

from tvm_pulp.planning.tir.statements import Statement, SubmitJob
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.uma.recipe import Changes, Job


def changed_registers(statements: Sequence[Statement], tables: Tables) -> dict[int, Changes]:
    """Changes by the job's slot, in the order in which the main function submits.

    The first jobs of a program are not among them: nobody knows what ran before.
    """
    found: dict[int, Changes] = {}
    before: dict[str, list[Job]] = {}
    for made in statements:
        if not isinstance(made, SubmitJob):
            continue
        step = tables.slots[made.slot].step
        assert isinstance(step, Job)
        jobs = before.setdefault(step.engine, [])
        if 0 < step.contexts <= len(jobs):
            changes = step.description.changes(jobs[-step.contexts].description)
            if changes is not None:
                found[made.slot] = changes
        jobs.append(step)
    return found
