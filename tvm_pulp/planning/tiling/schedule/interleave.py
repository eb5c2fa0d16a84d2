"""Pass: the order of compute steps.

Expects tiles (`tile`). Steps of layers follow each other, with two copies those that finish a tile behind the next
tile's job; where layers mix, steps of neighbouring layers stand between each other, so that an accelerator works on
one while the cores finish the other:

    job 0.0; call 0.0; job 0.1; call 0.1; job 1.0; call 1.0         becomes, of layer and tile,
    job 0.0; job 0.1; call 0.0; job 1.0; call 0.1; call 1.0

Guarantees that a step stands behind all that it needs.
"""

from tvm_pulp.planning.tiling.schedule.program import Program
from tvm_pulp.planning.tiling.schedule.step_order import step_order


def interleave(program: Program) -> Program:
    """The program with its steps in order: that which it has, where it holds for these layers."""
    program.order = step_order(program.choices, program.policy, program.order)
    return program
