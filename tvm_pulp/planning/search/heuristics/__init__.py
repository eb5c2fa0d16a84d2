"""Plans of whole networks by simple policies, and changes to the best plan so far."""

from tvm_pulp.planning.search.heuristics.balance_engines import balance_engines, expected_cycles
from tvm_pulp.planning.search.heuristics.policies import (
    IN_GOOD_TIME,
    MANY_STEPS,
    SLACK,
    enough_l1,
    greedy_attempt,
    try_policies,
    without_overlap,
)
from tvm_pulp.planning.search.heuristics.variations import VARIATIONS, vary

__all__ = [
    "IN_GOOD_TIME",
    "MANY_STEPS",
    "SLACK",
    "VARIATIONS",
    "balance_engines",
    "enough_l1",
    "expected_cycles",
    "greedy_attempt",
    "try_policies",
    "vary",
    "without_overlap",
]
