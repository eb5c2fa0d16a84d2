"""Layers whose jobs the cores finish, mixed with those beside them, and cut so that first tiles follow each other.

Such a cut has two tiles, and the first needs only the first of the layer before.

A window of rows reaches into the second tile of the layer before: the first tile of its own layer is smaller by that,
and smaller again in the next layer, until it would be less than half of it.
"""

from collections.abc import Sequence
from dataclasses import replace

from tvm_pulp.planning.search.moves.move import Proposals
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.forms.cuts import Cuts, Tiling
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Choice, Decisions, can_interleave
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Load, Store
from tvm_pulp.uma.strategy import TileAxis


def mix_layers(_problem: Problem, plan: Plan, shares: Sequence[float], _turn: int) -> Proposals:
    """Steps interleaved, or not where they are, so that the next layer's jobs begin while the cores finish this one's;
    and cuts that follow each other."""
    decisions = plan.decisions
    if not plan.policy.overlap or not can_interleave(decisions.choices):
        return
    mixed = not decisions.interleave
    yield f"layers {'mixed' if mixed else 'one by one'}", replace(decisions, interleave=mixed, apart=frozenset())
    for share in shares:
        if wanted := _cut_in_step(decisions, share):
            yield f"cut in step from {share}", wanted


def _cut_in_step(decisions: Decisions, share: float) -> Decisions | None:
    """Decisions with such cuts, steps interleaved; None where no layer follows another. `share`: where chains begin."""
    choices = list(decisions.choices)
    written: dict[object, int] = {}  # bytes of a tensor that its first tile makes
    follows = False
    for index, choice in enumerate(decisions.choices):
        layer, tiling = decisions.layers[index].layer, choice.tiling
        shape = layer.outputs[0].spec.shape
        cuts = next((cuts for cuts in decisions.layers[index].cuts if cuts.form is tiling.form), None)
        cut = _axis(cuts, tiling, shape) if cuts is not None else None
        if cuts is None or cut is None or not can_interleave([choice]):
            continue
        axis, unit = cut.axis, cut.least or cut.step
        known = written.get(layer.inputs[0].storage)
        sizes = [r for r in range(shape[axis] - 1, shape[axis] // 2, -1) if r % unit == 0]
        rows = next((r for r in sizes if _reads(tiling, (*shape[:axis], r, *shape[axis + 1 :])) <= (known or 0)), None)
        if not sizes or (rows is None and len(tiling.tiles) < 2):
            continue
        follows |= rows is not None
        first = rows or min(sizes, key=lambda r: abs(r - round(share * shape[axis])))
        size = (*tiling.size[:axis], first, *tiling.size[axis + 1 :])
        made = cuts.measure(size)
        if made.l1_bytes > choice.budget or len(made.tiles) != 2:
            continue
        choices[index] = Choice(made, True, choice.budget)
        written[layer.outputs[0].storage] = _writes(made)
    if not follows:
        return None
    return replace(decisions, choices=tuple(choices), interleave=True, apart=frozenset())


def _axis(cuts: Cuts, tiling: Tiling, shape: tuple[int, ...]) -> TileAxis | None:
    """The first axis that is longer than one and may be cut, where tiles are whole along all others."""
    axis = next((i for i, extent in enumerate(shape) if extent > 1), None)
    others = [i for i in range(len(shape)) if i != axis]
    can = axis is not None and shape[axis] > 3 and all(tiling.size[i] >= shape[i] for i in others)
    return next((a for a in cuts.axes if a.axis == axis), None) if can else None


def _reads(tiling: Tiling, size: tuple[int, ...]) -> int:
    """Bytes of the activation up to the last that a first tile of this size reads."""
    ends = [0]
    for step in tiling.recipe(Box.whole(size)).steps:
        if isinstance(step, Load) and step.tensor.storage.kind != "constant":
            ends.append(1 << 40 if step.offset is None else step.offset + step.local.spec.bytes)
    return max(ends)


def _writes(tiling: Tiling) -> int:
    """Bytes of the result up to the last that the first tile writes; 0 where they are not one run."""
    for step in tiling.recipes[0].steps:
        if isinstance(step, Store):
            return 0 if step.offset is None else step.offset + step.local.spec.bytes
    return 0
