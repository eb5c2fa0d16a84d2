"""Pass: synchronisation for many cores.

Expects the flat statements of `tiled_main`. Core 0 alone issues and waits for transfers and jobs; all cores run
kernels. Guarantees that nothing is read before it is complete and no buffer is reused while somebody needs it:

    dma_load; kernel; dma_store      becomes
    core0 { begin; dma_load; wait }; barrier; kernel; barrier; core0 { begin; dma_store; wait }
"""

from __future__ import annotations

from typing import Any

from tvm import tirx

from tvm_pulp.tir.tiled_main import CALL, KERNEL, LAYER, SUBMIT, call

BARRIER, BEGIN, WAIT_DMA, WAIT_JOBS, CORE0 = "barrier", "dma_begin", "dma_wait", "wait_jobs", "core0"


def statement_name(statement: Any) -> str:
    """Name of the call a statement makes."""
    return str(statement.value.args[0].value)


def insert_barriers(function: Any) -> Any:
    """The function with core-0 sections, waits and barriers."""
    result: list[Any] = []
    section: list[Any] = []
    cores_busy = False  # a kernel ran and nobody waited for all cores since
    data_pending = False  # core 0 finished something the other cores have not been told

    def barrier() -> None:
        nonlocal cores_busy, data_pending
        result.append(_statement(BARRIER))
        cores_busy = data_pending = False

    def close() -> None:
        nonlocal section, data_pending
        if section:
            result.append(_core0(section))
            section = []
            data_pending = True

    for statement in function.body.seq:
        name = statement_name(statement)
        if name in (KERNEL, CALL):
            close()
            if cores_busy or data_pending:
                barrier()
            result.append(statement)
            cores_busy = True
        elif name == LAYER:
            close()
            if cores_busy:
                barrier()
            result.append(statement)
        else:
            if cores_busy:
                close()
                barrier()
            section.append(statement)
    close()
    if cores_busy:
        barrier()
    return function.with_body(tirx.SeqStmt(result))


def _statement(name: str, *arguments: Any) -> Any:
    return tirx.Evaluate(call(name, *arguments))


def _core0(section: list[Any]) -> Any:
    """Transfers in groups with one wait each; a job starts when its data is there and ends before anything else."""
    body: list[Any] = []
    moving = False
    for statement in section:
        if statement_name(statement) == SUBMIT:
            if moving:
                body.append(_statement(WAIT_DMA))
                moving = False
            body += [statement, _statement(WAIT_JOBS)]
        else:
            if not moving:
                body.append(_statement(BEGIN))
                moving = True
            body.append(statement)
    if moving:
        body.append(_statement(WAIT_DMA))
    condition = tirx.call_extern("bool", CORE0)
    return tirx.IfThenElse(condition, tirx.SeqStmt(body) if len(body) > 1 else body[0], None)
