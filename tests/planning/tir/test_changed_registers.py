"""`changed_registers`: jobs that use the same registers are told what differs."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from tvm_pulp.planning.program.actions import Access
from tvm_pulp.planning.tir.changed_registers import changed_registers
from tvm_pulp.planning.tir.statements import Address, BeginLayer, Statement, SubmitJob
from tvm_pulp.uma.recipe import Changes, Job


@dataclass(frozen=True)
class Words:
    """A job of an engine with three registers; all of them at once are no changes."""

    values: tuple[int, int, int]

    def changes(self, before: "Words") -> Changes | None:
        pairs = zip(before.values, self.values, strict=True)
        found = tuple((n, new) for n, (old, new) in enumerate(pairs) if old != new)
        return Changes(found, len(found)) if len(found) < 3 else None


def _job(*values: int, engine: str = "a", contexts: int = 2) -> Job:
    return Job(engine, Words((values[0], values[1], values[2])), 3, (), (), contexts=contexts)


def _changed(*jobs: Job, order: list[int] | None = None) -> dict[int, Changes]:
    tables: Any = SimpleNamespace(slots=[SimpleNamespace(step=job) for job in jobs])
    submitted: list[Statement] = [_submit(slot, jobs[slot]) for slot in (order or range(len(jobs)))]
    submitted.insert(1, BeginLayer(0, 0))
    return changed_registers(submitted, tables)


def _submit(slot: int, job: Job) -> SubmitJob:
    place, structure = Address("L1", 0), Access("L1", 0, 12, "bundle_0", 0)
    told: dict[str, Any] = {"engine": job.engine, "ticket": 0, "queue": 2, "words": 3, "cycles": 1}
    moved: dict[str, Any] = {"descriptor": structure, "reads": (), "writes": ()}
    return SubmitJob(layer=0, tile=0, position=0, slot=slot, arguments=place, **told, **moved)


def test_every_second_job_has_the_same_registers() -> None:
    jobs = (_job(1, 2, 3), _job(7, 8, 9), _job(1, 5, 3), _job(7, 8, 9), _job(4, 5, 6))
    assert _changed(*jobs) == {2: Changes(((1, 5),), 1), 3: Changes((), 0), 4: Changes(((0, 4), (2, 6)), 2)}


def test_the_order_of_submitting_counts() -> None:
    jobs = (_job(1, 2, 3), _job(1, 2, 4), _job(1, 2, 5))
    assert _changed(*jobs, order=[2, 0, 1]) == {1: Changes(((2, 4),), 1)}


def test_too_many_changes_and_other_engines() -> None:
    assert _changed(_job(1, 2, 3, contexts=1), _job(4, 5, 6, contexts=1)) == {}
    assert _changed(_job(1, 2, 3), _job(1, 2, 3, engine="b"), _job(1, 2, 3)) == {}
    assert _changed(*[_job(1, 2, 3, contexts=0)] * 4) == {}
