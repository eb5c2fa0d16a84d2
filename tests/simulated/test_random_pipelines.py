"""Random networks whose layers run as pipelines of tiles on an engine and the cores, in L1 of 16 to 220 kB.

First and second inference equal numpy, without a race, and every plan holds before the verifier.
"""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.simulated.random_graph import RandomGraph
from tests.simulated.random_pipeline import random_pipeline
from tests.simulated.simulated_run import check_report
from tvm_pulp import soc
from tvm_pulp.entry_point import plan_for
from tvm_pulp.errors import UserError
from tvm_pulp.planning.check.verify_plan import verify_plan
from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.target import Target
from tvm_pulp.uma.conformance.layer_network import simulate
from tvm_pulp.uma.conformance.random_layer import random_input
from tvm_pulp.uma.registry import backend

SIRACUSA = soc.load("siracusa")
DEFAULT = (11, 14)
MANY = [seed for seed in range(520) if seed not in DEFAULT]


@cache
def case(seed: int) -> tuple[RandomGraph, list[np.ndarray], Target, LoweredPlan]:
    source, neureka = np.random.default_rng(seed), backend("neureka")
    graph = random_pipeline(source)
    inputs = [random_input(source, spec) for spec in graph.inputs]
    options = neureka.options({"weight_memory": str(source.choice(["none", "sram"]))})
    # Two of three with room for tiles of several layers beside each other.
    l1_bytes = int(source.integers(*[(16, 221), (96, 221), (96, 221)][int(source.integers(3))])) * 1000
    target = Target(SIRACUSA, ((neureka, options),), int(source.choice([3, 8, 8])), l1_limit=l1_bytes)
    try:
        return graph, inputs, target, plan_for(target, graph.network())
    except UserError as error:
        room = re.search(r"needs (\d+) bytes of L1 .* \(\d+ missing\): raise", str(error))
        assert room is not None, str(error)
        target = replace(target, l1_limit=int(room[1]))
        return graph, inputs, target, plan_for(target, graph.network())


def check(seed: int) -> None:
    graph, inputs, target, lowered = case(seed)
    assert verify_plan(describe(lowered), SIRACUSA) == []
    run = simulate(target, lowered, inputs)
    check_report(run.report)
    for output, wanted in zip(run.outputs, graph.references(inputs), strict=True):
        np.testing.assert_array_equal(output, wanted, err_msg=str(graph))


def mixes_layers(lowered: LoweredPlan) -> bool:
    """Tell if a layer goes on after a later one began."""
    order = [slot.layer for slot in lowered.plan.schedule.slots]
    return order != sorted(order)


def test_the_default_cases_have_pipelines() -> None:
    assert all(mixes_layers(case(seed)[3]) for seed in DEFAULT)


@pytest.mark.slow
def test_most_of_the_first_cases_have_pipelines() -> None:
    """Otherwise hundreds of them say little about pipelines."""
    assert sum(mixes_layers(case(seed)[3]) for seed in range(24)) >= 12


@pytest.mark.parametrize("seed", DEFAULT)
def test_random_pipelines(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_many_random_pipelines(seed: int) -> None:
    check(seed)
