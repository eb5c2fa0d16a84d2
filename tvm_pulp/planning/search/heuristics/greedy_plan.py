"""The baseline: every layer alone fills L1, one buffer of each kind, nothing overlaps and nothing stays in L1."""

from tvm_pulp.planning.search.attempts.attempt import Attempt
from tvm_pulp.planning.search.attempts.evaluator import PlanEvaluator
from tvm_pulp.planning.search.heuristics.policies import policy_decisions, whole_l1
from tvm_pulp.planning.tiling.schedule.decisions import InL3


def greedy_attempt(evaluator: PlanEvaluator, in_l3: InL3) -> Attempt:
    """The plan of tools that tile layer by layer."""
    limits = whole_l1(evaluator)
    decisions = policy_decisions(evaluator, 0, limits, in_l3)
    decisions.resident = {}
    return Attempt("greedy", evaluator.plan(decisions), 0, limits)
