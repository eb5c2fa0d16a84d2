"""Pass: software pipelining.

Expects statements tile by tile (`insert_tiled_dma`). Brings each to its position in the schedule, so that the loads of
the next tile or layer and the stores of the previous tile stand beside the step that computes meanwhile:

    load 0; call 0; store 0; load 1; call 1; store 1       becomes
    load 0; { load 1; call 0 }; { store 0; call 1 }; store 1

Statements of one position belong together: transfers first, then the kernel; a job starts before the transfers.
"""

from __future__ import annotations

from typing import Any

from tvm import tirx

from tvm_pulp.planning.tir.statements import CALL, LAYER, SUBMIT, integer, statement_name
from tvm_pulp.planning.tir.tables import Tables

_RANK = {LAYER: 0, SUBMIT: 1, CALL: 3}


def double_buffer(function: Any, _tables: Tables) -> Any:
    """The function with its statements in the order of their positions."""
    statements = sorted(function.body.seq, key=lambda s: (integer(s, 0), _RANK.get(statement_name(s), 2)))
    return function.with_body(tirx.SeqStmt(statements))
