"""A layer on two engines at once: the accelerator computes the first part of every tile, the cores the rest.

The job is submitted first and runs while the cores work on their part. Rows are divided where a layer has several,
output channels where it has one row, so that both parts of the result stay contiguous.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvm_pulp.planning.tiling.forms.cuts import Cuts
from tvm_pulp.planning.tiling.forms.wrapped_form import WrappedForm
from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Recipe, Step, Store
from tvm_pulp.uma.strategy import Form, TileAxis

# A split has to save at least this part of the accelerator's cycles, and these cycles.
_LEAST_PART, _LEAST_CYCLES = 0.05, 100
# What cores may have to do before a job that they share: this part of its cycles.
_LITTLE = 0.25
# Cores that work beside an accelerator share L1 with it.
_CAUTION = 0.9


@dataclass(frozen=True)
class SplitForm(WrappedForm):
    """`share` of the axis is the cores', the rest that of the accelerator's form inside."""

    cores: Form
    axis: int
    share: float

    @property
    def name(self) -> str:
        return f"{self.inner.name} beside {self.cores.name}"

    def axes(self) -> tuple[TileAxis, ...]:
        """Axes that both can cut."""
        other = {a.axis: a for a in self.cores.axes()}
        found = []
        for mine in self.inner.axes():
            if mine.axis in other:
                limits = [a.limit for a in (mine, other[mine.axis]) if a.limit is not None]
                step = math.lcm(mine.step, other[mine.axis].step)
                found.append(TileAxis(mine.axis, step, min(limits) if limits else None))
        return tuple(found)

    def recipe(self, box: Box) -> Recipe:
        first, rest = self.divide(box)
        if rest is None:
            return self.inner.recipe(box)
        mine, theirs = self.inner.recipe(first).steps, self.cores.recipe(rest).steps
        last = max(i for i, s in enumerate(mine) if isinstance(s, Job))
        loads = [s for s in (*mine, *theirs) if isinstance(s, Load)]
        before = [s for s in mine[: last + 1] if not isinstance(s, Load)]
        kernels = [s for s in theirs if isinstance(s, Kernel | Call)]
        after = [s for s in mine[last + 1 :] if isinstance(s, Kernel | Call)]
        stores = [s for s in (*mine, *theirs) if isinstance(s, Store)]
        return Recipe((*loads, *before, *kernels, *after, *stores), together=True)

    def divide(self, box: Box) -> tuple[Box, Box | None]:
        """The accelerator's part of a box, and the cores', if it is large enough for both."""
        # What is left over after whole groups of channels takes an array as long as it is large.
        shared = self.cores if self.axis == len(box.size) - 1 else self
        step = next((a.step for a in shared.axes() if a.axis == self.axis), 1)
        size = box.size[self.axis]
        given = size - -(-int(size * (1 - self.share)) // step) * step
        if given <= 0 or given >= size:
            return box, None
        parts = []
        for start, extent in ((0, size - given), (size - given, given)):
            starts, sizes = list(box.start), list(box.size)
            starts[self.axis] += start
            sizes[self.axis] = extent
            parts.append(Box(tuple(starts), tuple(sizes)))
        return parts[0], parts[1]

    def bound_cycles(self) -> int:
        """Both engines busy all the time."""
        mine, theirs = self.inner.bound_cycles(), self.cores.bound_cycles()
        return max(1, mine * theirs // (mine + theirs))


def pin_of(form: Form) -> str:
    """The name for `--pin` of the way a form runs: its engine, both engines of a split."""
    return f"{form.engine}+{form.cores.engine}" if isinstance(form, SplitForm) else form.engine


def _is_busy(steps: Sequence[Step], last: Job) -> bool:
    """Tell whether the cores have to do something after the last job, or much before it."""
    work = [(at, s.cost.cycles) for at, s in enumerate(steps) if isinstance(s, Kernel | Call)]
    return any(at > steps.index(last) for at, _ in work) or sum(c for _, c in work) > _LITTLE * last.cycles


def _in_whole_turns(form: SplitForm, shape: tuple[int, ...], mine: int, cores: int) -> SplitForm:
    """The division of columns that leaves no core without work while others take another turn, or as it is."""
    columns, turn = shape[form.axis], cores * next(a.step for a in form.cores.axes() if a.axis == form.axis)

    def cycles(given: int) -> float:
        _, rest = replace(form, share=given / columns).divide(Box.whole(shape))
        return max(mine * (1 - given / columns), form.cores.recipe(rest).cycles / _CAUTION) if rest else mine

    turns = int(form.share * columns / turn)
    fewest = min((n * turn for n in (turns, turns + 1) if 0 < n * turn < columns), key=cycles, default=0)
    return replace(form, share=fewest / columns) if fewest else form


def split_form(layer: Layer, accelerated: Sequence[Cuts], on_cores: Sequence[Cuts]) -> Cuts | None:
    """The best accelerator form beside the best form of the cores, where that is expected to be faster."""
    if not accelerated or not on_cores or len(layer.outputs) != 1:
        return None
    shape = layer.outputs[0].spec.shape
    accelerator, cores = (min(cuts, key=lambda c: c.whole.cycles) for cuts in (accelerated, on_cores))
    steps = accelerator.whole.steps
    jobs = [s for s in steps if isinstance(s, Job)]
    # Cores that already have work around the job, and beats that reach into the other part, do not go together.
    if not jobs or _is_busy(steps, jobs[-1]) or any(w.slack for j in jobs for w in j.writes):
        return None
    # Parts along the first axis with more than one element are contiguous.
    axis = next((axis for axis, extent in enumerate(shape) if extent > 1), None)
    if axis is None:
        return None
    mine, theirs = accelerator.whole.engine_cycles, cores.whole.cycles
    form = SplitForm(accelerator.form, cores.form, axis, _CAUTION * mine / (mine + theirs))
    if axis not in {a.axis for a in form.axes()}:
        return None
    in_turns = axis == len(shape) - 1
    if in_turns:
        form = _in_whole_turns(form, shape, mine, accelerator.costs.cores)
    _, rest = form.divide(Box.whole(shape))
    if rest is None:
        return None
    share = rest.size[axis] / shape[axis]
    gain = mine - max(mine * (1 - share), cores.form.recipe(rest).cycles if in_turns else theirs * share)
    enough = gain >= max(_LEAST_CYCLES, _LEAST_PART * mine)
    return Cuts(form, layer, accelerator.costs, accelerator.pattern) if enough else None
