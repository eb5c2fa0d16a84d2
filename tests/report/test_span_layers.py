"""Measured jobs and transfers find their layers."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def plan(*actions: dict[str, Any]) -> dict[str, Any]:
    return {"program": [{"actions": list(actions)}]}


def test_jobs_are_the_plans_in_order() -> None:
    # The first job belongs to an earlier inference; layer 1 has a job that begins before the layer does.
    done = activity(accelerators={"engine": spans((20, 90, 7), (105, 120, 7), (120, 160, 7))})
    jobs = [{"do": "job", "engine": "engine", "layer": layer} for layer in (0, 1)]
    (found,) = job_spans(done, plan(*jobs)).values()
    assert [(s.start, s.end, s.layer) for s in found] == [(5, 20, 0), (20, 60, 1)]
    assert busy_cycles(done, plan(*jobs)) == [15, 40]
    # Where the plan says something else, time decides.
    (found,) = job_spans(done, plan(jobs[0])).values()
    assert [s.layer for s in found] == [0, 0]


def test_transfers_are_found_by_their_size() -> None:
    done = activity(loads=spans((101, 110, 64), (110, 120, 32), (160, 170, 5)))
    loads = [
        {"do": "load", "layer": layer, "reads": [], "writes": [{"bytes": size}]} for layer, size in ((1, 32), (0, 64))
    ]
    found = transfer_spans(done, plan(*loads))["load"]
    assert [s.layer for s in found] == [0, 1, 1]  # nobody planned 5 bytes: they move while layer 1 runs


def test_what_cores_do_is_cut_where_layers_begin() -> None:
    done = activity(cores=[core("core 0", (90, 110), (140, 170)), core("DMA core", (100, 200), computes=False)])
    found = awake_spans(done)["core 0"]
    assert [(s.start, s.end, s.layer) for s in found] == [(0, 10, 0), (40, 50, 0), (50, 70, 1)]
    assert busy_cycles(done, None) == [20, 20]
