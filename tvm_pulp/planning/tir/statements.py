"""The vocabulary of the main function on a cluster: every statement evaluates one of these calls.

    run(layer, operator, operands...)                              a whole layer; `insert_tiled_dma` replaces it
    layer(position, i)                                             layer i begins
    dma_load(position, move, local, external, bytes)               also _2d with line and stride; dma_store alike
    dma_load_bundle(position, move, local, bundle, offset, bytes)  constants of a layer or a tile
    l3_load(position, place, offset, bytes)                        a constant from L3 to L2
    l3_load_rows(position, place, state, bytes, counter, row)      rows of a cache, at most so many bytes
    submit(position, slot, descriptor)                             start the job whose structure lies there
    call(position, slot, descriptor)                               a kernel on all cores, its arguments there

Places are calls as well. Symbolic ones, `buffer(name, offset)` in L1 and `tensor(name, offset)` outside, become
addresses in `place_buffers`: `L1(offset)`, `L2(offset)` in the arena, `AT(name, offset)` behind a pointer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tvm import tirx

RUN, LAYER, LOAD, STORE, SUBMIT, CALL = "run", "layer", "dma_load", "dma_store", "submit", "call"
BUNDLE, FETCH, FETCH_ROWS = "dma_load_bundle", "l3_load", "l3_load_rows"
FETCHES = (FETCH, FETCH_ROWS)
BUFFER, TENSOR = "buffer", "tensor"
L1, L2, AT = "L1", "L2", "AT"
# What `insert_barriers` adds.
BARRIER, BEGIN, WAIT_DMA, WAIT_JOB, WAIT_L3 = "barrier", "dma_begin", "dma_wait", "job_wait", "l3_wait"
STEP, END = "step", "end"


@lru_cache(maxsize=1 << 15)
def _integer(value: int) -> Any:
    return tirx.const(value, "int32")


def call(name: str, *arguments: Any) -> Any:
    values = [_integer(a) if isinstance(a, int) else a for a in arguments]
    return tirx.call_extern("int32", name, *values)


@lru_cache(maxsize=1 << 15)
def place(kind: str, *arguments: int | str) -> Any:
    """An address, or what will become one."""
    return call(kind, *arguments)


def statement(name: str, *arguments: Any) -> Any:
    return tirx.Evaluate(call(name, *arguments))


def statement_name(made: Any) -> str:
    """Name of the call a statement makes."""
    return str(made.value.args[0].value)


def integer(made: Any, index: int) -> int:
    """Integer argument of a statement."""
    return int(made.value.args[1 + index].value)


def place_values(value: Any) -> tuple[str, list[Any]]:
    """Kind and arguments of a place."""
    kind, *values = value.args
    return str(kind.value), [v.value for v in values]


def main_function(name: str, statements: list[Any]) -> Any:
    """The network's main with these statements."""
    function = tirx.PrimFunc([], tirx.SeqStmt(statements))
    return function.with_attr("global_symbol", f"tvmgen_{name}_run")
