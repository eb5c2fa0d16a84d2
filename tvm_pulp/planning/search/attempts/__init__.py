"""Plans that are tried: decisions made into a plan with its expected cycles."""

from tvm_pulp.planning.search.attempts.attempt import Attempt
from tvm_pulp.planning.search.attempts.evaluator import PlanEvaluator, estimated

__all__ = [
    "Attempt",
    "PlanEvaluator",
    "estimated",
]
