"""Pass: every symbolic place becomes the address that was planned for it.

Expects `buffer` and `tensor` places (`insert_tiled_dma`). Nothing else changes:

    dma_load(2, 5, buffer("x0.4", 0), tensor("conv", 64), 32)      becomes
    dma_load(2, 5, L1(1024), L2(4160), 32)                         with `conv` in the arena, or
    dma_load(2, 5, L1(1024), AT("conv", 64), 32)                   with `conv` behind a pointer
"""

from dataclasses import replace

from tvm_pulp.planning.tir.statements import (
    AT,
    BUFFER,
    L1,
    L2,
    TENSOR,
    Address,
    BeginLayer,
    FetchBytes,
    Main,
    MoveBytes,
    Positioned,
    positioned,
)
from tvm_pulp.planning.tir.tables import Tables


def place_buffers(main: Main, tables: Tables) -> Main:
    """The function with addresses."""
    arena = tables.plan.arena.offsets

    def placed(at: Address) -> Address:
        if at.kind == BUFFER:
            return Address(L1, tables.buffers[at.name].offset + at.offset)
        if at.kind == TENSOR:
            tensor = tables.tensors[at.name]
            return Address(L2, arena[tensor] + at.offset) if tensor in arena else Address(AT, at.offset, at.name)
        return at

    def statement(made: Positioned) -> Positioned:
        if isinstance(made, BeginLayer):
            return made
        if isinstance(made, MoveBytes):
            external = None if made.external is None else placed(made.external)
            return replace(made, local=placed(made.local), external=external)
        if isinstance(made, FetchBytes):
            return replace(made, target=placed(made.target))
        return replace(made, arguments=placed(made.arguments))

    return main.with_statements([statement(made) for made in positioned(main)])
