"""The verifier's rules for jobs: in order within an engine, side by side on different ones."""

from tests.planning.check.race_steps import DESCRIPTOR, access, faults
from tvm_pulp.planning.program.actions import Action, JobAction, KernelAction, Step, WaitForJob


def job(engine: str, ticket: int, reads: int, writes: int, queue: int = 1) -> JobAction:
    return JobAction(
        layer=0,
        tile=0,
        engine=engine,
        ticket=ticket,
        queue=queue,
        words=4,
        cycles=1,
        descriptor=DESCRIPTOR,
        reads=access(reads),
        writes=access(writes),
    )


def step(*actions: Action, waits: tuple[int, ...] = (), barrier: bool = False) -> Step:
    return Step(position=0, waits=tuple(WaitForJob(0, t) for t in waits), barrier=barrier, actions=actions)


KERNEL = KernelAction(layer=0, tile=0, op="add", cycles=1, descriptor=DESCRIPTOR, reads=access(64), writes=access(128))


def test_a_job_reads_what_the_same_engine_made() -> None:
    assert faults(step(job("a", 0, 0, 64, queue=2)), step(job("a", 1, 64, 128, queue=2))) == []


def test_a_job_that_reads_what_another_engine_made_needs_a_wait() -> None:
    first, second = step(job("a", 0, 0, 64)), job("b", 1, 64, 128)
    assert faults(first, step(second)) == ["1: job touches L1 byte 64 while a job may use it"]
    assert faults(first, step(second, waits=(0,))) == []


def test_writing_what_another_engine_reads_needs_a_wait() -> None:
    assert faults(step(job("a", 0, 0, 64)), step(job("b", 1, 128, 0)))
    assert faults(step(job("a", 0, 0, 64)), step(job("b", 1, 0, 128))) == []


def test_waiting_for_one_engine_says_nothing_of_another() -> None:
    first, second = step(job("a", 0, 0, 64)), step(job("b", 1, 256, 320))
    assert faults(first, second, step(KERNEL, waits=(1,), barrier=True))
    assert faults(first, second, step(KERNEL, waits=(0,), barrier=True)) == []


def test_a_full_queue_means_that_the_oldest_job_is_over() -> None:
    jobs = [step(job("a", number, 256, 64 + 192 * (number > 0), queue=2)) for number in range(3)]
    assert faults(*jobs[:2], step(KERNEL, barrier=True))
    assert faults(*jobs, step(KERNEL, barrier=True)) == []


def test_a_ticket_is_free_when_its_job_is_over() -> None:
    held = ["1: ticket 0 belongs to a job that may be under way"]
    assert faults(step(job("a", 0, 0, 64, queue=2)), step(job("a", 0, 0, 64, queue=2))) == held
    assert faults(step(job("a", 0, 0, 64)), step(job("b", 0, 256, 320))) == held
    # The engine holds one job: submitting the second waits for the first.
    assert faults(step(job("a", 0, 0, 64)), step(job("a", 0, 0, 64))) == []
