"""The search for a plan on a CPU by itself: from the fastest forms, moves until the memories are enough and used."""

from tvm_pulp.errors import refuse_if
from tvm_pulp.planning.check import verify_cpu_plan
from tvm_pulp.planning.cpu.decisions import CpuDecisions
from tvm_pulp.planning.cpu.describe import lowered_cpu_plan
from tvm_pulp.planning.cpu.evaluator import CpuEvaluator, MeasureFlash
from tvm_pulp.planning.cpu.moves import MOVES, Move
from tvm_pulp.planning.cpu.plan import CpuPlan, CpuRequest, LoweredCpuPlan, bytes_of_ends
from tvm_pulp.planning.cpu.read_plan import recorded_decisions
from tvm_pulp.planning.cpu.share_rows import share_rows
from tvm_pulp.planning.cpu.stated_forms import stated_forms
from tvm_pulp.planning.program import CpuPlanJson
from tvm_pulp.qnn.network import Network
from tvm_pulp.soc.cpu_platform import check_memories


def plan_cpu(
    network: Network,
    request: CpuRequest,
    measure_flash: MeasureFlash | None = None,
    given: CpuPlanJson | None = None,
) -> LoweredCpuPlan:
    """The plan of a network, checked independently; a user error where the machine's memories are too small.

    `given`: a plan whose decisions are taken instead of searching.
    """
    evaluator = CpuEvaluator(network, request, measure_flash)
    if given is not None:
        plan = evaluator.plan(recorded_decisions(given, evaluator))
    else:
        plan = evaluator.plan(_first(evaluator))
        for move in MOVES:
            plan = _moved(evaluator, plan, move)
    _check_limits(evaluator, plan)
    lowered = lowered_cpu_plan(plan)
    faults = verify_cpu_plan(lowered.record, request.cpu)
    if faults:
        raise RuntimeError(f"the plan is wrong: {'; '.join(faults[:3])}")
    return lowered


def _first(evaluator: CpuEvaluator) -> CpuDecisions:
    """Of every layer the stated form or the best one, and parts for threads where these are wanted."""
    network, offers, threads = evaluator.network, evaluator.offers, evaluator.request.threads
    stated = stated_forms(network, evaluator.request, offers)
    forms = {layer.name: stated.get(layer.name) or offers.first(layer) for layer in network.layers}
    return CpuDecisions(forms, parts=share_rows(network, threads) if threads > 1 else None)


def _moved(evaluator: CpuEvaluator, plan: CpuPlan, move: Move) -> CpuPlan:
    """The first plan of a move that keeps all limits; else the one that exceeds them least."""
    best = plan
    for decisions in move(evaluator, plan):
        made = evaluator.plan(decisions)
        if not any(evaluator.excess(made)):
            return made
        best = min(best, made, key=evaluator.excess)
    return best


def _check_limits(evaluator: CpuEvaluator, plan: CpuPlan) -> None:
    """Refuse a plan that exceeds the machine's memories, or those that the user allows."""
    request, ends = plan.request, bytes_of_ends(plan.whole)
    check_memories(request.soc, request.cpu, plan.arena.size, ends, plan.constant_bytes, request.ram_limit)
    limit, needed = request.flash_limit, evaluator.flash_bytes(plan)
    refuse_if(
        limit is not None and needed > limit,
        f"--flash {limit} is too little: code and constants of this network take {needed} bytes; allow as much, or "
        "choose a smaller network",
    )
