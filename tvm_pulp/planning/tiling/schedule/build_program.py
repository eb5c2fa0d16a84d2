"""From decisions to a program whose blocks have sizes and lifetimes, pass by pass."""

from collections.abc import Callable, Sequence

from tvm_pulp.planning.tiling.schedule.bundle import bundle
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.interleave import interleave
from tvm_pulp.planning.tiling.schedule.keep_alive import keep_alive
from tvm_pulp.planning.tiling.schedule.lay_out import lay_out
from tvm_pulp.planning.tiling.schedule.prefetch import prefetch
from tvm_pulp.planning.tiling.schedule.program import Program
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder
from tvm_pulp.planning.tiling.schedule.tile import tile
from tvm_pulp.qnn.network import Network

# Behind `tile`, which makes the program.
PASSES: tuple[Callable[[Program], Program], ...] = (interleave, bundle, prefetch, lay_out)


def build_program(
    network: Network,
    choices: Sequence[Choice],
    policy: Policy,
    l1_bytes: int,
    order: StepOrder | None = None,
    watch: Callable[[str, Program], None] | None = None,
) -> Program:
    """The program of decisions, with blocks not placed yet.

    `order`: an order of steps that is known already. `watch` is told of the program after every pass.
    """
    program = tile(network, choices, policy, l1_bytes)
    program.order = order or program.order
    if watch is not None:
        watch(tile.__name__, program)
    for transform in PASSES:
        program = transform(program)
        if watch is not None:
            watch(transform.__name__, program)
    return keep_alive(program)
