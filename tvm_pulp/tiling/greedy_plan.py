"""The baseline: every layer alone fills L1, one buffer of each kind, nothing overlaps and nothing stays in L1."""

from __future__ import annotations

from tvm_pulp.tiling.decisions import InL3
from tvm_pulp.tiling.judge import Judge
from tvm_pulp.tiling.search import Attempt, wanted, whole_l1


def greedy(judge: Judge, in_l3: InL3) -> Attempt:
    """What tools do that tile layer by layer."""
    cuts = whole_l1(judge)
    decisions = wanted(judge, 0, cuts, in_l3)
    decisions.resident = {}
    return Attempt("greedy", judge(decisions), 0, cuts)
