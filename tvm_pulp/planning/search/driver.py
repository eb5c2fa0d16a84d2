"""The driver of planning: from a network and a machine to a plan that was lowered, estimated and verified.

    annotate ─ offered forms ─ cover ─ find_plan: decisions ─ tiling ─ tir ─ estimate ─┐
                                 ▲─────────▲───── expected cycles ◀────────────────────┘
    the fastest plan ─ partition ─ the network of the partitioned module ─ tir ─ verify ─▶ LoweredPlan

It is the only place that knows all of these stages; none of them knows another that comes after it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from tvm_pulp.compile_options import EFFORTS, PLANNERS, CompileOptions
from tvm_pulp.errors import UserError
from tvm_pulp.garbage_collection import rare_garbage_collection
from tvm_pulp.planning.check import verify_plan
from tvm_pulp.planning.lowering import same_network
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.program.stated_decisions import StatedDecisions
from tvm_pulp.planning.search.evaluate import evaluate
from tvm_pulp.planning.search.find_plan import find_plan
from tvm_pulp.planning.search.memory_limits import (
    check_capacity,
    check_ends,
    check_smallest_size,
    layer_grown,
    layers_to_move,
    spread_weights,
)
from tvm_pulp.planning.search.moves.tile_pipelines import core_cycles
from tvm_pulp.planning.search.partition_network import partition_network
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.search.read_plan import check_places, recorded_decisions, recorded_regions
from tvm_pulp.planning.search.seeds.arrange_layers import expected_cycles, pipelined_cycles
from tvm_pulp.planning.search.seeds.cover import LEAST_GAIN, Covers, recorded_cover
from tvm_pulp.planning.search.state_memory import check_in_place
from tvm_pulp.planning.search.stated_offers import agreeing, check_kept, check_names
from tvm_pulp.planning.tiling.forms import CLUSTER, LayerForms, check_pins, offered_forms, pin_of
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Decisions
from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.planning.tir.lower import LoweredPlan, lower
from tvm_pulp.qnn.network import Network
from tvm_pulp.uma.annotate import Annotated, annotate
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.region import Region, region_of

# Of longer networks it would take too long to find out whether operators one by one are faster in pieces.
_MOST_OPERATORS = 32


@dataclass(frozen=True)
class PlanFrame:
    """The frame of a plan: the machine and its engines with their options, and what the user fixes."""

    soc: Any
    engines: tuple[tuple[UMABackend, dict[str, Any]], ...]
    cores: int
    pins: Mapping[str, str] = field(default_factory=dict)
    # As the user stated them.
    options: CompileOptions = field(default_factory=CompileOptions)
    # A plan.json, whose decisions are taken instead of searching.
    given_plan: PlanJson | None = None
    # Decisions to which a search keeps.
    stated: StatedDecisions = field(default_factory=StatedDecisions)

    @property
    def backends(self) -> list[UMABackend]:
        return [backend for backend, _ in self.engines]

    @property
    def memories(self) -> tuple[str, ...]:
        """Memories that hold constants."""
        return ("l2", *(("l3",) if self.soc.memory.l3.size else ()), *self.soc.software.weight_parts)

    def contexts(self) -> list[tuple[UMABackend, Any]]:
        """Engines with what their checks and strategies are told, by priority."""
        return [(backend, backend.context(options, self.soc, self.cores)) for backend, options in self.engines]


@dataclass(frozen=True)
class PlanRequest:
    """A frame, and the memory that a plan of a network may take."""

    frame: PlanFrame
    l1_bytes: int
    l2_bytes: int
    # L2 that there would be without a limit of the user.
    l2_available: int
    # Bytes of both limits that no memory has: the caller moves constants elsewhere.
    beyond_l2: int = 0


@rare_garbage_collection()
def plan_network(network: Network, request: PlanRequest) -> LoweredPlan:
    """Find the plan, or take the one that was given; lower it and check it independently."""
    check_smallest_size(network, request.frame.soc, request.l2_bytes, bool(request.frame.engines))
    check_ends(network, request.frame.soc, request.l2_bytes, request.l2_available)
    given = request.frame.given_plan
    plan = _planned(network, request) if given is None else _given(network, request, given)
    check_in_place(plan)
    check_kept(plan, request.frame.stated)
    lowered = lower(plan, request.frame.backends)
    check_capacity(plan, request.frame.soc, request.l2_bytes, request.l2_available)
    described = describe(lowered)
    if given is not None:
        check_places(given, described)
    faults = verify_plan(described, request.frame.soc, request.beyond_l2)
    if faults and given is not None:
        raise UserError(f"--plan: the plan is wrong ({faults[0]}): compile without --plan")
    if faults:
        raise RuntimeError(f"the plan is wrong: {'; '.join(faults[:3])}")
    return lowered


def _planned(network: Network, request: PlanRequest) -> Plan:
    """The best plan. Where a pass changed what was chosen, every region is planned again, where it is."""
    plan = _find(_problem(network, request))
    regions = plan.regions()
    compiled = partition_network(network, regions, request.frame.backends)
    if not _as_chosen(compiled, plan.network, regions):
        plan = _search(*_as_partitioned(compiled, request))
    return replace(plan, network=replace(plan.network, origin=compiled.origin))


def _given(network: Network, request: PlanRequest, record: PlanJson) -> Plan:
    """The plan that a record describes."""
    problem = _problem(network, request)
    cover = recorded_cover(problem, {entry.name: entry.op for entry in record.layers})
    regions = recorded_regions(record, cover.layers)
    compiled = partition_network(network, regions, request.frame.backends)
    if not _as_chosen(compiled, problem.network_of(cover), regions):
        problem, cover = _as_partitioned(compiled, request)
    plan = evaluate(problem, recorded_decisions(record, problem, cover))
    return replace(plan, network=replace(plan.network, origin=compiled.origin), planner=record.planner)


def _as_chosen(compiled: Network, chosen: Network, regions: Sequence[Region]) -> bool:
    """Tell if passes on the partitioned module left layers and engines as they were."""
    wanted = {r.layer.name: (r.composite, r.engine) for r in regions if r.layer.variables}
    stated = {layer.name: (layer.composite, layer.codegen) for layer in compiled.layers if layer.codegen}
    return stated == wanted and same_network(compiled, chosen)


def _problem(network: Network, request: PlanRequest) -> Problem:
    """The network with what engines and cores offer for every operator, and engines for regions of several."""
    frame, contexts = request.frame, request.frame.contexts()
    check_names(frame.stated, network, frame.memories)
    check_pins(network, contexts, frame.pins, frame.stated.layers)
    found = annotate(network, contexts)
    operators, several = (
        offered_forms(layers, found, frame.soc, contexts, frame.cores) for layers in (network.layers, found.several)
    )
    operators, several = agreeing(frame.stated, operators, several)
    return _problem_of(network, operators, several, request)


def _problem_of(
    network: Network, operators: Sequence[LayerForms], several: Sequence[LayerForms], request: PlanRequest
) -> Problem:
    frame = request.frame
    return Problem(
        network,
        operators,
        several,
        frame.soc,
        frame.cores,
        request.l1_bytes,
        request.l2_bytes,
        frame.pins,
        [backend.target_name for backend in frame.backends],
        frame.options.double_buffer,
        frame.options,
        frame.stated,
    )


def _as_partitioned(network: Network, request: PlanRequest) -> tuple[Problem, Decisions]:
    """Regions as the functions of a partitioned module say: what stands outside of them is the cores'."""
    frame = request.frame
    known = {(b.target_name, pattern.name) for b in frame.backends for pattern in b.patterns}
    stated = [region_of(layer) for layer in network.layers if layer.codegen not in ("", CLUSTER)]
    annotated = Annotated(network, tuple(region for region in stated if (region.engine, region.pattern) in known))
    offered = offered_forms(network.layers, annotated, frame.soc, frame.contexts(), frame.cores)
    for entry in offered:
        layer, engine = entry.layer, entry.layer.codegen or CLUSTER
        if not any(pin_of(form) == engine for form in entry.tiled):
            why = "; ".join(r.reason for r in entry.refusals) or f"{layer.composite or 'nothing'} is no pattern of it"
            raise RuntimeError(
                f"post_partition passes leave region '{layer.name}' ({layer.operator}) on {engine}, which does not "
                f"take it: {why}"
            )
    engines = {layer.name: layer.codegen or CLUSTER for layer in network.layers}
    problem = _problem_of(network, offered, (), request)
    return problem, problem.start(offered, engines)


def _find(problem: Problem) -> Plan:
    """The best plan; layers whose weights exceed a memory run on the cores unless the user pinned them."""
    soc, pins = problem.soc, dict(problem.pins)
    while True:
        found = _search(problem, _fastest_cover(problem, Covers(problem, pins)))
        best = spread_weights(found, soc, problem.stated.levels)
        layers = {planned.layer.name: planned.layer for planned in best.layers}
        moved = [n for level in soc.software.weight_parts for n in layers_to_move(best, soc, level)]
        moved += layer_grown(best, soc, problem.l2_bytes, pins)
        parts = [part for name in moved for part in (layers[name].parts or (layers[name],))]
        names = [part.name for part in parts if part.name not in pins]
        if not names:
            return _or_by_cores(best, problem)
        pins |= dict.fromkeys(names, CLUSTER)


def _or_by_cores(best: Plan, problem: Problem) -> Plan:
    """The plan, or one of the cores alone, but for what the user pinned, where that is expected to be faster."""
    if problem.options.planner == "greedy" or all(planned.engine == CLUSTER for planned in best.layers):
        return best
    engines = {**{layer.name: CLUSTER for layer in problem.network.layers}, **problem.pins}
    by_cores = problem.start(problem.operators, engines)
    with suppress(UserError):  # a layer that does not fit: neither does the plan
        if core_cycles(problem, by_cores) >= best.estimated_cycles:
            return best
    cycles = expected_cycles(problem, by_cores)
    if cycles is None or cycles >= best.estimated_cycles:
        return best
    found = _search(problem, by_cores)
    return found if found.estimated_cycles < best.estimated_cycles and found.l2_needed <= problem.l2_bytes else best


def _fastest_cover(problem: Problem, covers: Covers) -> Decisions:
    if problem.options.planner == "greedy" or not problem.overlap:
        return covers.cover(covers.cheapest())
    found, plain = covers.fastest(lambda cover: expected_cycles(problem, cover)), covers.cover()
    if len(plain.layers) in (len(found.layers), 1) or len(plain.layers) > _MOST_OPERATORS:
        return found
    # Layers that stand alone can be cut into pieces that follow each other, which may gain more than regions do.
    taken, apart = (pipelined_cycles(problem, cover) for cover in (found, plain))
    return plain if apart < (1 - LEAST_GAIN) * taken else found


def _search(problem: Problem, start: Decisions) -> Plan:
    options = problem.options
    return find_plan(problem, start, planner=options.planner or PLANNERS[0], effort=options.effort or EFFORTS[0])
