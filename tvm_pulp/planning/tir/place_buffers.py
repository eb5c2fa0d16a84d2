"""Pass: every symbolic place becomes the address that was planned for it.

Expects `buffer` and `tensor` places (`insert_tiled_dma`). Nothing else changes:

    dma_load(2, 5, buffer("x0.4", 0), tensor("conv", 64), 32)      becomes
    dma_load(2, 5, L1(1024), L2(4160), 32)                         with `conv` in the arena, or
    dma_load(2, 5, L1(1024), AT("conv", 64), 32)                   with `conv` behind a pointer
"""

from tvm_pulp.planning.tir.statements import BeginLayer, FetchBytes, Main, MoveBytes, Positioned, positioned
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.quick_records import changed


def place_buffers(main: Main, tables: Tables) -> Main:
    """The function with addresses."""

    def statement(made: Positioned) -> Positioned:
        if isinstance(made, BeginLayer):
            return made
        if isinstance(made, MoveBytes):
            external = None if made.external is None else tables.address(made.external)
            return changed(made, local=tables.address(made.local), external=external)
        if isinstance(made, FetchBytes):
            return changed(made, target=tables.address(made.target))
        return changed(made, arguments=tables.address(made.arguments))

    return main.with_statements([statement(made) for made in positioned(main)])
