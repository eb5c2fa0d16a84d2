"""The driver of planning: from a network and a machine to a plan that was lowered, estimated and verified.

    offered forms ─ find_plan: decisions ─ tiling ─ tir ─ estimate ─┐
                        ▲───────────── expected cycles ◀────────────┘
    the fastest plan ─ tir ─ verify ─▶ LoweredPlan

It is the only place that knows all of these stages; none of them knows another that comes after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.planning.attempts.evaluator import PlanEvaluator
from tvm_pulp.planning.find_plan import find_plan
from tvm_pulp.planning.garbage_collection import rare_garbage_collection
from tvm_pulp.planning.memory_limits import check_capacity, layers_to_move
from tvm_pulp.planning.read_plan import read_plan
from tvm_pulp.qnn.network import Network
from tvm_pulp.tiling.forms.cluster_forms import ENGINE as CLUSTER
from tvm_pulp.tiling.forms.engine_choice import EngineChoice, check_pins, offered_forms
from tvm_pulp.tiling.plan import PLANNERS, Plan
from tvm_pulp.tir.describe import describe
from tvm_pulp.tir.lower import LoweredPlan, lower
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.verify import verify_plan


@dataclass(frozen=True)
class PlanRequest:
    """What is planned for: the machine and its engines with their options, what the user limits and what he fixes."""

    soc: Any
    engines: tuple[tuple[UMABackend, dict[str, Any]], ...]
    cores: int
    l1_bytes: int
    l2_bytes: int
    # L2 that there would be without a limit of the user.
    l2_available: int
    pins: Mapping[str, str] = field(default_factory=dict)
    overlap: bool = True  # of transfers with anything
    planner: str = PLANNERS[0]
    # A plan.json, whose decisions are taken instead of searching.
    given_plan: dict[str, Any] | None = None

    @property
    def backends(self) -> list[UMABackend]:
        return [backend for backend, _ in self.engines]


@rare_garbage_collection()
def plan_network(network: Network, request: PlanRequest) -> LoweredPlan:
    """Find the plan, or take the one that was given; lower it and check it independently."""
    evaluator = _evaluator(network, request)
    given = request.given_plan
    plan = _find(evaluator, request) if given is None else read_plan(given, evaluator)
    lowered = lower(plan, request.backends)
    check_capacity(plan, request.soc, request.l2_bytes, request.l2_available)
    faults = verify_plan(describe(lowered), request.soc)
    if faults and given is not None:
        raise UserError(f"--plan: the plan is wrong ({faults[0]}): compile without --plan")
    if faults:
        raise RuntimeError(f"the plan is wrong: {'; '.join(faults[:3])}")
    return lowered


def _evaluator(network: Network, request: PlanRequest) -> PlanEvaluator:
    """What every engine offers for the network, and what plans made of it are expected to take."""
    soc, cores = request.soc, request.cores
    contexts = [(b, b.context(options, soc, cores)) for b, options in request.engines]
    check_pins(network, contexts, request.pins)
    engine_choice = EngineChoice(offered_forms(network, soc, contexts, cores), request.pins)
    return PlanEvaluator(network, soc, engine_choice, cores, request.l1_bytes)


def _find(evaluator: PlanEvaluator, request: PlanRequest) -> Plan:
    """The best plan; layers whose weights exceed the weight memory run on the cores unless the user pinned them."""
    while True:
        best = find_plan(evaluator, planner=request.planner, overlap=request.overlap, l2_bytes=request.l2_bytes)
        known = evaluator.engine_choice.pins
        moved = {
            name: CLUSTER
            for level in request.soc.software.weight_parts
            for name in layers_to_move(best, request.soc, level)
            if name not in known
        }
        if not moved:
            return best
        engine_choice = EngineChoice(evaluator.engine_choice.forms, {**known, **moved})
        evaluator = replace(evaluator, engine_choice=engine_choice)
