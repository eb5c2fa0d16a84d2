"""Pass: caches that stay between calls are bound to the one buffer of their state, wherever that lies.

Expects `tensor` places (`insert_tiled_dma`). In L2, new rows are written behind the rows that were there:

    dma_store(9, 7, tensor("present_k", 16), buffer("y0.3", 0), 16)     becomes
    dma_store(9, 7, tensor("past_k", 80), buffer("y0.3", 0), 16)        where `past_k` holds 64 bytes of earlier rows

In L3, what comes to L2 is no constant but rows of the state, no more of them than there are:

    l3_load(3, tensor("past_k", 0), 0, 4096)                            becomes
    l3_load_rows(3, tensor("past_k", 0), "past_k", 4096, "length", 16)  rows of 16 bytes, `length` of them

New rows of a state in L1 or L3 keep the pointer of their own: the caller appends them. So do those of a cache whose
earlier rows no transfer reads (there are none, or a kernel finds them itself), and of one whose length is known at run
time only: there, the entry points of a language model set the pointer.
"""

from __future__ import annotations

from typing import Any

from tvm import ir, tirx

from tvm_pulp.planning.tir.statements import (
    FETCH,
    FETCH_ROWS,
    TENSOR,
    integer,
    place,
    place_values,
    statement,
    statement_name,
)
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Network


def kv_cache(function: Any, tables: Tables) -> Any:
    """The function with every cache in one place."""
    bound, fetched = _bound_rows(tables), _fetched_rows(tables.plan.network)
    if not bound and not fetched:
        return function
    statements = []
    for made in function.body.seq:
        _, *arguments = made.value.args
        name = statement_name(made)
        target = str(place_values(made.value.args[2])[1][0]) if name == FETCH else ""
        if target in fetched:
            counter, row = fetched[target]
            rows = (target, integer(made, 3), counter, row)
            statements.append(statement(FETCH_ROWS, integer(made, 0), made.value.args[2], *rows))
        else:
            statements.append(statement(name, *(_in_state(a, bound) for a in arguments)))
    return function.with_body(tirx.SeqStmt(statements))


def _bound_rows(tables: Tables) -> dict[str, tuple[str, int]]:
    """Names of new rows, with the cache that they belong to and the bytes in front of them."""
    network = tables.plan.network
    found = {}
    for state in network.states:
        if state.level != "l2" or state.length is None:
            continue
        past, rows = network.inputs[state.past].storage, network.outputs[state.present].storage
        # Inputs and outputs lie behind pointers of the caller; what lies in the arena has a place of its own.
        if past.name in tables.pointers and rows.name in tables.pointers:
            found[rows.name] = (past.name, past.spec.bytes)
    return found


def _fetched_rows(network: Network) -> dict[str, tuple[str, int]]:
    """Names of caches in L3, with the input that counts their rows, if one does, and the bytes of a row."""
    found = {}
    for state in network.states:
        if state.level == "l3":
            past = network.inputs[state.past]
            counter = network.inputs[state.counter].name if state.counter is not None else ""
            # Heads and their elements are the last axes, positions those before.
            positions = past.spec.shape[0] if len(past.spec.shape) == 2 else past.spec.shape[1]
            found[past.name] = (counter, past.spec.bytes // max(1, positions))
    return found


def _in_state(argument: Any, bound: dict[str, tuple[str, int]]) -> Any:
    if not isinstance(argument, ir.Call):
        return argument
    kind, values = place_values(argument)
    if kind != TENSOR or str(values[0]) not in bound:
        return argument
    name, first = bound[str(values[0])]
    return place(TENSOR, name, first + int(values[1]))
