"""Measured jobs and transfers find their layers."""

from typing import Any

import numpy as np

from tvm_pulp.planning.program.actions import Access, Action, JobAction, Step, TransferAction
from tvm_pulp.report.span_layers import awake_spans, busy_cycles, job_spans, transfer_spans
from tvm_pulp.sim.activity import Activity, CoreSpans, Spans

NOTHING = Spans(*(np.zeros(0, np.int64) for _ in range(3)))


def spans(*rows: tuple[int, int, int]) -> Spans:
    """Start, end, amount."""
    return Spans(*(np.array(column, np.int64) for column in zip(*rows, strict=True)))


def core(name: str, *awake: tuple[int, int], computes: bool = True) -> CoreSpans:
    starts, ends = (np.array(column, np.int64) for column in zip(*awake, strict=True))
    every = np.ones(len(starts), bool)
    return CoreSpans(name, starts, ends, every, ~every, {}, computes)


def activity(**parts: Any) -> Activity:
    """Two layers, from 100 to 150 and from 150 to 200."""
    known: dict[str, Any] = {"cores": [], "accelerators": {}, "loads": NOTHING, "stores": NOTHING}
    return Activity(boundaries=[100, 150, 200], **{**known, "from_l3": NOTHING, "to_l3": NOTHING, **parts})


def program(*actions: Action) -> list[Step]:
    return [Step(position=2, waits=(), barrier=False, actions=actions)]


def job(layer: int, runs: int = 1) -> JobAction:
    nothing: dict[str, Any] = {"ticket": 0, "queue": 1, "words": 1, "cycles": 1, "reads": (), "writes": ()}
    return JobAction(
        layer=layer, tile=0, engine="engine", descriptor=Access("L1", 0, 4, "bundle", 0), runs=runs, **nothing
    )


def load(layer: int, size: int) -> TransferAction:
    written = (Access("L1", 0, size, "x", 0),)
    return TransferAction(do="load", layer=layer, tile=0, agent=0, ahead=False, reads=(), writes=written)


def test_jobs_are_the_plans_in_order() -> None:
    # The first job belongs to an earlier inference; layer 1 has a job that begins before the layer does.
    done = activity(accelerators={"engine": spans((20, 90, 7), (105, 120, 7), (120, 160, 7))})
    jobs = [job(0), job(1)]
    (found,) = job_spans(done, program(*jobs)).values()
    assert [(s.start, s.end, s.layer) for s in found] == [(5, 20, 0), (20, 60, 1)]
    assert busy_cycles(done, program(*jobs)) == [15, 40]
    # Where the plan says something else, time decides.
    (found,) = job_spans(done, program(jobs[0])).values()
    assert [s.layer for s in found] == [0, 0]


def test_runs_belong_to_the_job_that_a_driver_made_them_of() -> None:
    done = activity(accelerators={"engine": spans((105, 120, 7), (120, 140, 7), (155, 160, 7), (160, 170, 7))})
    (found,) = job_spans(done, program(job(0, runs=3), job(1))).values()
    assert [s.layer for s in found] == [0, 0, 0, 1]
    assert busy_cycles(done, program(job(0, runs=3), job(1))) == [40, 10]


def test_transfers_are_found_by_their_size() -> None:
    done = activity(loads=spans((101, 110, 64), (110, 120, 32), (160, 170, 5)))
    found = transfer_spans(done, program(load(1, 32), load(0, 64)))["load"]
    assert [s.layer for s in found] == [0, 1, 1]  # nobody planned 5 bytes: they move while layer 1 runs


def test_what_cores_do_is_cut_where_layers_begin() -> None:
    done = activity(cores=[core("core 0", (90, 110), (140, 170)), core("DMA core", (100, 200), computes=False)])
    found = awake_spans(done)["core 0"]
    assert [(s.start, s.end, s.layer) for s in found] == [(0, 10, 0), (40, 50, 0), (50, 70, 1)]
    assert busy_cycles(done, ()) == [20, 20]
