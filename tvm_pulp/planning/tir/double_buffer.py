"""Pass: software pipelining.

Expects statements tile by tile (`insert_tiled_dma`). Brings each to its position in the schedule, so that the loads of
the next tile or layer and the stores of the previous tile stand beside the step that computes meanwhile:

    load 0; call 0; store 0; load 1; call 1; store 1       becomes
    load 0; { load 1; call 0 }; { store 0; call 1 }; store 1

Statements of one position belong together: transfers first, then the kernel; a job starts before the transfers.
"""

from tvm_pulp.planning.tir.statements import BeginLayer, CallKernel, Main, SubmitJob, positioned
from tvm_pulp.planning.tir.tables import Tables

_RANK = {BeginLayer: 0, SubmitJob: 1, CallKernel: 3}


def double_buffer(main: Main, _tables: Tables) -> Main:
    """The function with its statements in the order of their positions."""
    statements = positioned(main)
    statements.sort(key=lambda s: (s.position, _RANK.get(type(s), 2)))
    return main.with_statements(statements)
