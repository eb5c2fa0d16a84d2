"""Plans of whole networks by simple policies, and changes to the best plan so far."""

from tvm_pulp.planning.search.heuristics.balance_engines import balance_engines
from tvm_pulp.planning.search.heuristics.greedy_plan import greedy_attempt
from tvm_pulp.planning.search.heuristics.policies import MANY_STEPS, enough_l1, try_policies, without_overlap
from tvm_pulp.planning.search.heuristics.stream_constants import stream_constants
from tvm_pulp.planning.search.heuristics.stream_inputs import stream_inputs

__all__ = [
    "MANY_STEPS",
    "balance_engines",
    "enough_l1",
    "greedy_attempt",
    "stream_constants",
    "stream_inputs",
    "try_policies",
    "without_overlap",
]
