"""The baseline: every layer alone fills L1, one buffer of each kind, nothing overlaps and nothing stays in L1."""

from __future__ import annotations

from tvm_pulp.tiling.decisions import InL3
from tvm_pulp.tiling.judge import Judge
from tvm_pulp.tiling.search import Attempt, wanted


def greedy(judge: Judge, in_l3: InL3) -> Attempt:
    """What tools do that tile layer by layer."""
    caps = (judge.l1_bytes,) * len(judge.chooser.forms)
    decisions = wanted(judge.chooser, 0, caps, in_l3)
    decisions.resident = {}
    return Attempt("greedy", judge(decisions), 0, caps)
