"""A layer on two engines at once: the accelerator computes the first part of every tile, the cores the rest.

The job is submitted first and runs while the cores work on their part. Rows are divided where a layer has several,
output channels where it has one row, so that both parts of the result stay contiguous.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Recipe, Store
from tvm_pulp.uma.strategy import Form, Rounding, TileAxis

# A split has to save at least this part of the accelerator's cycles, and these cycles.
_LEAST_PART, _LEAST_CYCLES = 0.05, 100
# Cores that work beside an accelerator share L1 with it.
_CAUTION = 0.9


@dataclass(frozen=True)
class SplitForm:
    """`share` of the axis is the cores'."""

    accelerator: Form
    cores: Form
    axis: int
    share: float

    @property
    def name(self) -> str:
        return f"{self.accelerator.name} beside {self.cores.name}"

    @property
    def rounding(self) -> Rounding:
        return self.accelerator.rounding

    @property
    def engine(self) -> str:
        return self.accelerator.engine

    def axes(self) -> tuple[TileAxis, ...]:
        """Axes that both can cut."""
        other = {a.axis: a for a in self.cores.axes()}
        found = []
        for mine in self.accelerator.axes():
            if mine.axis in other:
                limits = [a.limit for a in (mine, other[mine.axis]) if a.limit is not None]
                step = math.lcm(mine.step, other[mine.axis].step)
                found.append(TileAxis(mine.axis, step, min(limits) if limits else None))
        return tuple(found)

    def recipe(self, box: Box) -> Recipe:
        first, rest = self.divide(box)
        if rest is None:
            return self.accelerator.recipe(box)
        mine, theirs = self.accelerator.recipe(first).steps, self.cores.recipe(rest).steps
        last = max(i for i, s in enumerate(mine) if isinstance(s, Job))
        loads = [s for s in (*mine, *theirs) if isinstance(s, Load)]
        before = [s for s in mine[: last + 1] if not isinstance(s, Load)]
        kernels = [s for s in theirs if isinstance(s, Kernel | Call)]
        after = [s for s in mine[last + 1 :] if isinstance(s, Kernel | Call)]
        stores = [s for s in (*mine, *theirs) if isinstance(s, Store)]
        return Recipe((*loads, *before, *kernels, *after, *stores), together=True)

    def divide(self, box: Box) -> tuple[Box, Box | None]:
        """The accelerator's part of a box, and the cores', if it is large enough for both."""
        step = next((a.step for a in self.axes() if a.axis == self.axis), 1)
        size = box.size[self.axis]
        given = size - -(-int(size * (1 - self.share)) // step) * step
        if given <= 0 or given >= size:
            return box, None
        return _part(box, self.axis, 0, size - given), _part(box, self.axis, size - given, given)

    def bound_cycles(self) -> int:
        """Both engines busy all the time."""
        mine, theirs = self.accelerator.bound_cycles(), self.cores.bound_cycles()
        return max(1, mine * theirs // (mine + theirs))


def pin_of(form: Form) -> str:
    """The name for `--pin` of the way a form runs: its engine, both engines of a split."""
    return f"{form.engine}+{form.cores.engine}" if isinstance(form, SplitForm) else form.engine


def _part(box: Box, axis: int, start: int, size: int) -> Box:
    starts, sizes = list(box.start), list(box.size)
    starts[axis] += start
    sizes[axis] = size
    return Box(tuple(starts), tuple(sizes))


def split_form(layer: Layer, accelerated: Sequence[Form], on_cores: Sequence[Form]) -> SplitForm | None:
    """The best accelerator form beside the best form of the cores, where that is expected to be faster."""
    if not accelerated or not on_cores or len(layer.outputs) != 1:
        return None
    shape = layer.outputs[0].spec.shape
    whole = Box.whole(shape)
    accelerator = min(accelerated, key=lambda f: f.recipe(whole).cycles)
    cores = min(on_cores, key=lambda f: f.recipe(whole).cycles)
    steps = accelerator.recipe(whole).steps
    jobs = [s for s in steps if isinstance(s, Job)]
    # Cores that already have work beside the job, and beats that reach into the other part, do not go together.
    if not jobs or any(isinstance(s, Kernel | Call) for s in steps) or any(w.slack for j in jobs for w in j.writes):
        return None
    axis = _axis(shape)
    if axis is None:
        return None
    mine, theirs = accelerator.recipe(whole).engine_cycles, cores.recipe(whole).cycles
    form = SplitForm(accelerator, cores, axis, _CAUTION * mine / (mine + theirs))
    if axis not in {a.axis for a in form.axes()}:
        return None
    _, rest = form.divide(whole)
    if rest is None:
        return None
    share = rest.size[axis] / shape[axis]
    gain = mine - max(mine * (1 - share), theirs * share)
    return form if gain >= max(_LEAST_CYCLES, _LEAST_PART * mine) else None


def _axis(shape: Sequence[int]) -> int | None:
    """The first axis with more than one element: parts along it are contiguous."""
    return next((axis for axis, extent in enumerate(shape) if extent > 1), None)
