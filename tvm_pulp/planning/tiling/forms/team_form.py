"""A layer on a part of the cores, so that others run different layers at the same time."""

from dataclasses import dataclass, replace

from tvm_pulp.planning.tiling.forms.wrapped_form import WrappedForm
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Kernel, Recipe
from tvm_pulp.uma.strategy import Form
from tvm_pulp.uma.teams import parts


@dataclass(frozen=True)
class TeamForm(WrappedForm):
    """A form for as many cores as a team has, run by that team."""

    team: int

    def recipe(self, box: Box) -> Recipe:
        made = super().recipe(box)
        steps = (replace(s, team=self.team) if isinstance(s, Kernel | Call) else s for s in made.steps)
        return Recipe(tuple(steps), made.together)

    def bound_cycles(self) -> int:
        """Of all cores: others are busy with other layers meanwhile."""
        return max(1, super().bound_cycles() // parts(self.team))


def team_of_form(form: Form) -> int | None:
    """The team that runs a form; None: all cores."""
    return form.team if isinstance(form, TeamForm) else None
