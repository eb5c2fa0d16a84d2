"""A layer on a part of the cores, so that others run different layers at the same time."""

from dataclasses import dataclass, replace

from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Kernel, Recipe
from tvm_pulp.uma.strategy import Form, Rounding, TileAxis
from tvm_pulp.uma.teams import parts


@dataclass(frozen=True)
class TeamForm:
    """A form for as many cores as a team has, run by that team."""

    form: Form
    team: int

    @property
    def name(self) -> str:
        return self.form.name

    @property
    def rounding(self) -> Rounding:
        return self.form.rounding

    @property
    def engine(self) -> str:
        return self.form.engine

    def axes(self) -> tuple[TileAxis, ...]:
        return self.form.axes()

    def recipe(self, box: Box) -> Recipe:
        made = self.form.recipe(box)
        steps = (replace(s, team=self.team) if isinstance(s, Kernel | Call) else s for s in made.steps)
        return Recipe(tuple(steps), made.together)

    def bound_cycles(self) -> int:
        """Of all cores: others are busy with other layers meanwhile."""
        return max(1, self.form.bound_cycles() // parts(self.team))


def team_of_form(form: Form) -> int | None:
    """The team that runs a form; None: all cores."""
    return form.team if isinstance(form, TeamForm) else None
