"""Two accelerators on one SoC: what one makes, the other reads only when it is there."""

import json
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.simulated_run import SimulatedRun, simulate
from tests.simulated.two_engines import BOTH, ENGINE, dotter, target_with_both
from tvm_pulp.compilation import Compilation
from tvm_pulp.entry_point import plan_for
from tvm_pulp.planning.program.actions import JobAction, actions_of
from tvm_pulp.planning.tir import synchronise
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc import CostModel
from tvm_pulp.target import Target

MODEL = "zoo:autoencoder"
TARGET = f"uma-{ENGINE},uma-neureka"
LAYERS = [*(f"dense{i}" for i in range(1, 10)), "reconstruction"]


@cache
def expected() -> dict[str, np.ndarray]:
    return tvm_pulp.compile(MODEL).run().outputs


def run(**options: object) -> SimulatedRun:
    """First and second inference give the host's answer, without a race."""
    dotter()
    done = simulate(tvm_pulp.compile(MODEL, **options))  # type: ignore[arg-type]
    for made, wanted in zip(done.outputs, expected().values(), strict=True):
        np.testing.assert_array_equal(made, wanted)
    return done


@pytest.mark.parametrize("engines", [BOTH, BOTH[::-1]], ids="-".join)
def test_one_engine_reads_what_the_other_made(engines: Sequence[str]) -> None:
    done = run(target=TARGET, pins=dict(zip(LAYERS, engines, strict=False)))
    assert [layer["engine"] for layer in done.report["layers"]][:2] == list(engines)


@pytest.mark.parametrize("order", [BOTH, (*BOTH, "cluster")], ids="-".join)
def test_engines_take_turns(order: Sequence[str]) -> None:
    pins = {name: order[i % len(order)] for i, name in enumerate(LAYERS)}
    done = run(target=TARGET, pins=pins)
    assert {layer["name"]: layer["engine"] for layer in done.report["layers"]} == pins


def test_more_jobs_in_a_row_than_tickets() -> None:
    """Nine layers on the accelerator, then one on the cores that waits for all of them."""
    done = run(target="uma-neureka", pins={"reconstruction": "cluster"})
    assert [layer["engine"] for layer in done.report["layers"]] == ["neureka"] * 9 + ["cluster"]


def autoencoder() -> Network:
    return Compilation(MODEL).network


def tickets(target: Target, network: Network) -> dict[str, set[int]]:
    """Tickets that each engine's jobs have in the plan."""
    found: dict[str, set[int]] = {}
    for job in actions_of(plan_for(target, network).program, JobAction):
        found.setdefault(job.engine, set()).add(job.ticket)
    return found


def test_tickets_follow_the_engines_queues() -> None:
    """NEUREKA holds two jobs, the scaffold's engine one."""
    pins = {name: ENGINE if i % 3 == 2 else "neureka" for i, name in enumerate(LAYERS)}
    found = tickets(target_with_both(pins), autoencoder())
    assert {engine: len(numbers) for engine, numbers in found.items()} == {ENGINE: 1, "neureka": 2}
    assert not found[ENGINE] & found["neureka"]


def test_a_queue_longer_than_there_are_tickets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine jobs that an engine would take at once, with three tickets: a job is waited for before its is used again."""
    monkeypatch.setattr(CostModel, "job_queue", lambda *_: 20)
    monkeypatch.setattr(synchronise, "TICKETS", 3)
    app = tvm_pulp.compile(MODEL, target="uma-neureka", pins={"reconstruction": "cluster"})
    held: set[int] = set()
    reused = 0
    for step in json.loads(app.files["plan.json"])["program"]:
        held -= {wait["ticket"] for wait in step["waits"] if "ticket" in wait}
        for job in (action for action in step["actions"] if action["do"] == "job"):
            assert job["ticket"] in range(3) and job["ticket"] not in held
            held.add(job["ticket"])
            reused += 1
    assert reused == 9
    np.testing.assert_array_equal(simulate(app).outputs[0], next(iter(expected().values())))


def test_estimate_stays_near_the_measurement() -> None:
    done = run(target=TARGET, pins={name: BOTH[i % 2] for i, name in enumerate(LAYERS)})
    assert abs(done.report["estimated_cycles"] / done.report["cycles"] - 1) < 0.15
