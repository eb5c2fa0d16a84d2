"""Pass: every symbolic place becomes the address that was planned for it.

Expects `buffer` and `tensor` places (`insert_tiled_dma`). Nothing else changes:

    dma_load(2, 5, buffer("x0.4", 0), tensor("conv", 64), 32)      becomes
    dma_load(2, 5, L1(1024), L2(4160), 32)                         with `conv` in the arena, or
    dma_load(2, 5, L1(1024), AT("conv", 64), 32)                   with `conv` behind a pointer
"""

from __future__ import annotations

from typing import Any

from tvm import ir, tirx

from tvm_pulp.planning.tir.statements import AT, BUFFER, L1, L2, TENSOR, place, place_values, statement, statement_name
from tvm_pulp.planning.tir.tables import Tables


def place_buffers(function: Any, tables: Tables) -> Any:
    """The function with addresses."""
    statements = []
    for made in function.body.seq:
        _, *arguments = made.value.args
        statements.append(statement(statement_name(made), *(_placed(a, tables) for a in arguments)))
    return function.with_body(tirx.SeqStmt(statements))


def _placed(argument: Any, tables: Tables) -> Any:
    if not isinstance(argument, ir.Call):
        return argument
    kind, values = place_values(argument)
    if kind not in (BUFFER, TENSOR):
        return argument
    name, offset = str(values[0]), int(values[1])
    if kind == BUFFER:
        return place(L1, tables.buffers[name].offset + offset)
    tensor, arena = tables.tensors[name], tables.plan.arena.offsets
    return place(L2, arena[tensor] + offset) if tensor in arena else place(AT, name, offset)
