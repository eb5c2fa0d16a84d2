"""Two plans of a network as one: runs of layers as in the plan that is expected to take fewer cycles there.

Pipelines of tiles pay in some layers and cost in others, which hold more of L1 then. A run begins when all before it is
over, so that what was decided about it can be taken as it is.
"""

from collections.abc import Sequence
from dataclasses import replace

from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Decisions

# Cycles that a change from one plan to the other has to pay for.
_CHANGE = 400
# What joining has to promise, as a part of the better plan's cycles.
_LEAST_GAIN = 0.004


def crossed(best: Plan, other: Plan) -> Decisions | None:
    """Decisions of the best plan with runs of layers from another; None where that promises nothing."""
    layers = list(zip(best.layers, other.layers, strict=True))
    gains = [mine.added_cycles - theirs.added_cycles for mine, theirs in layers]
    # Where a run begins, what its layer did before the end of others is still to do.
    changes_at = [(_CHANGE + mine.early_cycles, _CHANGE + theirs.early_cycles) for mine, theirs in layers]
    taken, gain = _runs(gains, changes_at)
    if gain < _LEAST_GAIN * best.estimated_cycles or all(taken) or not (best.policy.overlap and other.policy.overlap):
        return None
    plans = [other if theirs else best for theirs in taken]
    changes = {index for index in range(1, len(taken)) if taken[index] != taken[index - 1]}
    apart = frozenset(i for i, plan in enumerate(plans) if i in changes or not plan.policy.joins(i))
    made = {t.storage: index for index, layer in enumerate(best.network.layers) for t in layer.outputs}
    # What stays in L1 does so as in the plan of the layer that makes it; inputs are the first layer's.
    kept = ((plan, *entry) for plan in (best, other) for entry in plan.policy.resident.items())
    resident = {tensor: readers for plan, tensor, readers in kept if plans[made.get(tensor, 0)] is plan}
    return replace(
        best.decisions,
        choices=tuple(plan.decisions.choices[index] for index, plan in enumerate(plans)),
        leads={index: plan.policy.leads.get(index, 0) for index, plan in enumerate(plans)},
        banned={},
        resident=resident,
        interleave=True,
        apart=apart,
    )


def _runs(gains: Sequence[int], changes: Sequence[tuple[int, int]]) -> tuple[list[bool], int]:
    """The layers to take from the other plan, and the cycles that this promises: the best path between the two."""
    paths: list[tuple[int, list[bool]]] = [(0, []), (0, [])]
    for gain, (back, away) in zip(gains, changes, strict=True):
        (stay, ours), (leave, theirs) = paths
        mine = max((stay, ours), (leave - back, theirs), key=lambda path: path[0])
        others = max((leave, theirs), (stay - away, ours), key=lambda path: path[0])
        paths = [(mine[0], [*mine[1], False]), (others[0] + gain, [*others[1], True])]
    value, taken = max(paths, key=lambda path: path[0])
    return taken, value
