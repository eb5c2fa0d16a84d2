"""The baseline: every layer alone fills L1, one buffer of each kind, nothing overlaps and nothing stays in L1."""

from __future__ import annotations

from tvm_pulp.planning.attempts.evaluator import Judge
from tvm_pulp.planning.heuristics.policies import Attempt, wanted, whole_l1
from tvm_pulp.tiling.schedule.decisions import InL3


def greedy(judge: Judge, in_l3: InL3) -> Attempt:
    """What tools do that tile layer by layer."""
    cuts = whole_l1(judge)
    decisions = wanted(judge.chooser, 0, cuts, in_l3)
    decisions.resident = {}
    return Attempt("greedy", judge(decisions), 0, cuts)
