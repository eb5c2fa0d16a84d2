"""The estimate on programs small enough to follow by hand."""

import pytest

from tvm_pulp import soc
from tvm_pulp.api import Compilation, CompileOptions
from tvm_pulp.planning.estimate import Estimate, estimate_program
from tvm_pulp.planning.estimate.code_cache import CodeCache
from tvm_pulp.planning.program.actions import Access, Action, Begin, JobAction, KernelAction, Step, TransferAction

SOC = soc.load("siracusa")
# All code is at hand.
COSTS = soc.CostModel(SOC.with_settings({"icache.ideal": True}))
START = COSTS.start_cycles(outward=False)


def access(size: int) -> Access:
    return Access("L1", 0, size, "x", 0)


def load(size: int) -> TransferAction:
    moved = (access(size),)
    return TransferAction(do="load", layer=0, tile=0, agent=0, ahead=False, reads=moved, writes=moved)


def estimated(*actions: Action) -> Estimate:
    step = Step(position=2, waits=(), barrier=False, actions=(Begin(agent=0, group=0), *actions))
    return estimate_program([step], 1, COSTS)


def issued(commands: int) -> int:
    """When core 0 has given the DMA its n-th command."""
    before = COSTS.executor.step + COSTS.executor.issue + COSTS.executor.begin
    return before + commands * COSTS.executor.command


def spans(made: Estimate) -> list[tuple[int, int]]:
    return [(s.start, s.end) for s in made.spans if s.resource == "load"]


def test_a_transfer_begins_its_start_up_after_the_command() -> None:
    made = estimated(load(800))
    start = issued(1) + START
    assert spans(made) == [(start, start + 800 // SOC.dma.bytes_per_cycle)]
    assert made.cycles == start + 100


def test_every_transfer_has_a_start_up_of_its_own() -> None:
    """Short ones: each begins when its own command has been given, not when the one before ends."""
    made = estimated(load(8), load(8))
    assert [start for start, _ in spans(made)] == [
        issued(1) + START,
        issued(2) + START,
    ]


def test_long_transfers_follow_each_other() -> None:
    (_, first_end), (second_start, _) = spans(estimated(load(8000), load(8)))
    assert second_start == first_end


def test_a_command_by_itself() -> None:
    """From the command to the end of the wait for it: 14 cycles and the beats; towards L2 one more per burst of 256."""
    assert COSTS.transfer_cycles(64, 64, outward=False) == 14 + 8
    assert COSTS.transfer_cycles(65, 65, outward=False) == 14 + 9
    assert COSTS.transfer_cycles(512, 512, outward=True) == 14 + 64 + 2
    assert COSTS.move_cycles(3 * 20, 20, outward=False) == 3 * 3
    assert COSTS.move_cycles(3 * 20, 20, outward=True) == 3 * (3 + 1)
    assert COSTS.move_cycles(0, 1, outward=False) == 0


def job(cycles: int, size: int, port_cycles: int | None = None, ticket: int = 0) -> JobAction:
    return JobAction(
        layer=0,
        tile=0,
        engine="e",
        ticket=ticket,
        queue=2,
        words=25,
        cycles=cycles,
        descriptor=access(4),
        reads=(access(size),),
        writes=(access(0),),
        port_cycles=port_cycles,
    )


def kernel(cycles: int) -> KernelAction:
    nothing = (access(0),)
    return KernelAction(layer=0, tile=0, op="add", cycles=cycles, descriptor=access(4), reads=nothing, writes=nothing)


def test_a_job_beside_a_transfer_takes_longer() -> None:
    """The transfer outlasts the job: all of it is slowed down, by what the cost model says of its accesses."""
    alone = estimated(job(1000, 16_000))
    beside = estimated(job(1000, 16_000), load(80_000))
    lengths = [next(s.end - s.start for s in made.spans if s.resource == "e") for made in (alone, beside)]
    start = [next(s.start for s in beside.spans if s.resource == name) for name in ("e", "load")]
    late = round(COSTS.job_contention("neureka", 0.5) * (1000 - (start[1] - start[0])))
    assert lengths == [1000, 1000 + late] and late > 50


def test_a_transfer_beside_a_job_takes_longer() -> None:
    alone, beside = estimated(load(80_000)), estimated(job(1000, 0, 500), load(80_000))
    lengths = [next(s.end - s.start for s in made.spans if s.resource == "load") for made in (alone, beside)]
    assert 100 < lengths[1] - lengths[0] <= COSTS.transfer_beside_jobs("neureka", 0.5) * 1200


def test_a_job_and_a_kernel_take_longer_beside_each_other() -> None:
    """Jobs behind the one that is delayed begin later."""
    estimate = estimated(job(1000, 0, 900), job(1000, 0, 900, ticket=1), kernel(600))
    jobs = [(s.start, s.end) for s in estimate.spans if s.resource == "e"]
    cores = next(s.end - s.start for s in estimate.spans if s.resource == "cores")
    slower = COSTS.job_beside_kernels("neureka", 0.9)
    late = slower / (1 + slower) * cores
    assert cores == 600 + round(COSTS.kernel_beside_jobs("neureka", 0.9) * 600)
    assert jobs[0][1] - jobs[0][0] == pytest.approx(1000 + late, abs=2) and jobs[1][0] == jobs[0][1]


def test_the_first_inference_runs_the_same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first inference leaves in the caches needs no clock: the second runs the same in its order."""
    fetched: list[tuple[str, float]] = []
    monkeypatch.setattr(CodeCache, "fetch", lambda _, *code: fetched.append(code) or 0)
    lowered = Compilation("zoo:dscnn", CompileOptions(target="uma-neureka", effort="fast")).lowered
    fetched.clear()
    estimate_program(lowered.program, len(lowered.plan.layers), COSTS)
    half = len(fetched) // 2
    assert fetched[:half] == fetched[half:]
    assert {"leave", "wait", "job_wait", "issue", "transfer", "submit"} < {code for code, *_ in fetched}
