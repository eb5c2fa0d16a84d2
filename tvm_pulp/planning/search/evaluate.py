"""Decisions made into a plan, with the cycles that it is expected to take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tvm_pulp.planning.estimate import estimate_program
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.place import FittedSchedule, fit_schedule
from tvm_pulp.planning.tiling.plan import LayerPlan, Plan, plan_l2, with_estimate
from tvm_pulp.planning.tiling.schedule import Decisions
from tvm_pulp.planning.tir.lower import program_of
from tvm_pulp.soc.cost_model import CostModel

# Plans that are kept to be asked for again: those of large networks take megabytes.
_KEPT = 32

# What the DMAs are busy with is not part of a layer's own time.
_TRANSFERS = ("load", "store", "l3")

_WATCHER: ContextVar[Callable[[Plan], None]] = ContextVar("watcher", default=lambda _plan: None)


@contextmanager
def watch_plans(watcher: Callable[[Plan], None]) -> Iterator[None]:
    """While this is open, `watcher` is told of every plan with its expected cycles, which decides nothing.

    A search takes a minute where networks are large.
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def evaluate(problem: Problem, decisions: Decisions) -> Plan:
    """The plan that comes closest to the decisions, with its expected cycles: what does not fit is weakened.

    What was asked for lately is not made again.
    """
    plan = problem.plans.pop(decisions, None)
    if plan is None:
        network = problem.network_of(decisions)
        fitted = fit_schedule(network, decisions, problem.l1_bytes, problem.commands)
        plan = _estimated(_plan_of(problem, fitted), problem.costs)
        _WATCHER.get()(plan)
    problem.plans[decisions] = plan
    if len(problem.plans) > _KEPT:
        del problem.plans[next(iter(problem.plans))]
    return plan


def _plan_of(problem: Problem, fitted: FittedSchedule) -> Plan:
    """The plan of decisions that fit."""
    decisions, layers = fitted.decisions, []
    for index, (entry, choice) in enumerate(zip(decisions.layers, decisions.choices, strict=True)):
        offers, why_not = entry.offers(problem.l1_bytes, decisions.engine(index)), entry.refusals
        pattern = entry.pattern_of(choice.tiling.form)
        layers.append(LayerPlan(**vars(choice), layer=entry.layer, offers=offers, refusals=why_not, pattern=pattern))
    return Plan(
        problem.network_of(decisions),
        problem.soc.name,
        problem.cores,
        problem.l1_bytes,
        tuple(layers),
        fitted.schedule,
        plan_l2(fitted.schedule, fitted.policy),
        fitted.l1_bytes,
        problem.soc.software.dma_agents,
        problem.costs.commands_in_flight,
        decisions,
        fitted.policy,
    )


def _estimated(plan: Plan, costs: CostModel) -> Plan:
    """The plan with the cycles that its program is expected to take."""
    expected = estimate_program(program_of(plan), len(plan.layers), costs)
    spans: list[tuple[int, int]] = [(expected.cycles, 0)] * len(plan.layers)
    for span in expected.spans:
        if span.resource not in _TRANSFERS:
            start, end = spans[span.layer]
            spans[span.layer] = min(start, span.start), max(end, span.end)
    return with_estimate(plan, expected.cycles, expected.layer_cycles, spans)
