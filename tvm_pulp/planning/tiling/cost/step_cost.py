"""Expected cost of the compute steps of a recipe."""

from tvm_pulp.uma.recipe import Call, CoreCost, Job, Kernel


def step_cost(step: Kernel | Call | Job) -> CoreCost:
    """A job's cycles are those of its engine; programming it is not part of them."""
    return CoreCost(step.cycles) if isinstance(step, Job) else step.cost
