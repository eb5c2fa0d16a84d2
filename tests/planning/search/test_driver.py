"""The driver: what comes out was verified; a plan that is wrong does not come out."""

from dataclasses import replace
from typing import Any

import pytest

from tvm_pulp import soc
from tvm_pulp.api import Compilation, CompileOptions
from tvm_pulp.errors import UserError
from tvm_pulp.planning.check import verify_plan
from tvm_pulp.planning.search import driver
from tvm_pulp.planning.search.driver import PlanFrame, PlanRequest, plan_network
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.seeds.rules import without_overlap
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Decisions
from tvm_pulp.planning.tir import describe
from tvm_pulp.qnn.network import Network
from tvm_pulp.uma.registry import backend

SIRACUSA = soc.load("siracusa")
GREEDY = PlanFrame(SIRACUSA, (), 8, options=CompileOptions(planner="greedy"))
REQUEST = PlanRequest(GREEDY, 32768, 1 << 20, 1 << 20)


def network() -> Network:
    return Compilation("zoo:dscnn", CompileOptions(target="c", soc="siracusa")).network


def test_a_plan_is_lowered_estimated_and_clean() -> None:
    lowered = plan_network(network(), REQUEST)
    assert lowered.plan.estimated_cycles > 0
    assert [stage.name for stage in lowered.stages][-1] == "synchronise"
    assert verify_plan(describe(lowered), SIRACUSA) == []


def test_the_cores_alone_are_among_the_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan with jobs that is slower than one without does not stand."""

    def find(problem: Problem, start: Decisions, **_how: Any) -> Plan:
        plan = without_overlap(problem, start).plan
        alone = all(layer.engine == "cluster" for layer in plan.layers)
        return replace(plan, estimated_cycles=10 if alone else 1000)

    monkeypatch.setattr(driver, "find_plan", find)
    neureka = backend("neureka")
    engines = ((neureka, neureka.options({"weight_memory": "sram"})),)
    request = PlanRequest(PlanFrame(SIRACUSA, engines, 8), 65536, 1 << 20, 1 << 20)
    monkeypatch.setattr(driver, "core_cycles", lambda _problem, _start: 0)
    for cycles, found in ((5000, {"neureka", "cluster"}), (5, {"cluster"})):
        monkeypatch.setattr(driver, "expected_cycles", lambda _problem, _start, cycles=cycles: cycles)
        assert {layer.engine for layer in plan_network(network(), request).plan.layers} == found


def test_a_given_plan_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    first = describe(plan_network(network(), REQUEST))

    def fail(*_arguments: Any, **_options: Any) -> Any:
        raise AssertionError("planned again")

    monkeypatch.setattr(driver, "find_plan", fail)
    with pytest.raises(AssertionError, match="planned again"):
        plan_network(network(), REQUEST)
    given = PlanRequest(PlanFrame(SIRACUSA, (), 8, given_plan=first), 32768, 1 << 20, 1 << 20)
    assert describe(plan_network(network(), given)) == first


def test_a_fault_of_ours_is_a_bug_and_one_of_a_given_plan_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    first = describe(plan_network(network(), REQUEST))
    monkeypatch.setattr(driver, "verify_plan", lambda *_: ["two blocks overlap"])
    with pytest.raises(RuntimeError, match="the plan is wrong: two blocks overlap"):
        plan_network(network(), REQUEST)
    given = PlanRequest(PlanFrame(SIRACUSA, (), 8, given_plan=first), 32768, 1 << 20, 1 << 20)
    with pytest.raises(UserError, match=r"^--plan: the plan is wrong \(two blocks overlap\): compile without --plan"):
        plan_network(network(), given)


def test_what_l2_misses_is_said_with_a_way_out() -> None:
    request = PlanRequest(GREEDY, 32768, 8192, 1 << 20)
    with pytest.raises(UserError, match=r"needs \d+ bytes of L2 and 8192 are available .*raise --l2 to at least \d+"):
        plan_network(network(), request)
    request = PlanRequest(GREEDY, 32768, 8192, 8192)
    with pytest.raises(UserError, match="use smaller inputs or fewer channels"):
        plan_network(network(), request)
