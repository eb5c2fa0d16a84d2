"""A form that runs another one in its own way, and is in all other respects what that one is."""

from dataclasses import dataclass

from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Recipe
from tvm_pulp.uma.strategy import Form, Rounding, TileAxis


@dataclass(frozen=True)
class WrappedForm:
    """Everything as `inner` has it; a wrapper says what is different."""

    inner: Form

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def engine(self) -> str:
        return self.inner.engine

    @property
    def rounding(self) -> Rounding:
        return self.inner.rounding

    def axes(self) -> tuple[TileAxis, ...]:
        return self.inner.axes()

    def recipe(self, box: Box) -> Recipe:
        return self.inner.recipe(box)

    def bound_cycles(self) -> int:
        return self.inner.bound_cycles()
