"""Pass: new rows of a cache are written behind the rows that were there, into the one buffer of its state.

Expects `tensor` places (`insert_tiled_dma`) and replaces those of the new rows; nothing else changes:

    dma_store(9, 7, tensor("present_k", 16), buffer("y0.3", 0), 16)     becomes
    dma_store(9, 7, tensor("past_k", 80), buffer("y0.3", 0), 16)        where `past_k` holds 64 bytes of earlier rows

A cache whose earlier rows no transfer reads (there are none, or a kernel finds them itself) keeps the pointer of its
new rows, which points to the same place. So does a cache whose length is known at run time only: there, the entry
points of a language model set the pointer.
"""

from __future__ import annotations

from typing import Any

from tvm import ir, tirx

from tvm_pulp.tir.statements import TENSOR, place, place_values, statement, statement_name
from tvm_pulp.tir.tables import Tables


def kv_cache(function: Any, tables: Tables) -> Any:
    """The function with every cache behind one pointer."""
    bound = _bound_rows(tables)
    if not bound:
        return function
    statements = []
    for made in function.body.seq:
        _, *arguments = made.value.args
        statements.append(statement(statement_name(made), *(_in_state(a, bound) for a in arguments)))
    return function.with_body(tirx.SeqStmt(statements))


def _bound_rows(tables: Tables) -> dict[str, tuple[str, int]]:
    """Names of new rows, with the cache that they belong to and the bytes in front of them."""
    network = tables.plan.network
    found = {}
    for state in network.states:
        past, rows = network.inputs[state.past].storage, network.outputs[state.present].storage
        # Inputs and outputs lie behind pointers of the caller; what lies in the arena has a place of its own.
        if past.name in tables.pointers and rows.name in tables.pointers:
            found[rows.name] = (past.name, past.spec.bytes)
    return found


def _in_state(argument: Any, bound: dict[str, tuple[str, int]]) -> Any:
    if not isinstance(argument, ir.Call):
        return argument
    kind, values = place_values(argument)
    if kind != TENSOR or str(values[0]) not in bound:
        return argument
    name, first = bound[str(values[0])]
    return place(TENSOR, name, first + int(values[1]))
