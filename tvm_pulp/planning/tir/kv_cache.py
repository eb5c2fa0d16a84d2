"""Pass: caches that stay between calls are bound to the one buffer of their state, wherever that lies.

Expects addresses (`place`). In L2, new rows are written behind the rows that were there:

    dma_store(9, 7, AT("present_k", 16), L1(256), 16)     becomes
    dma_store(9, 7, AT("past_k", 80), L1(256), 16)        where `past_k` holds 64 bytes of earlier rows

What comes from there to layers that look at no more rows than there are is so many rows:

    dma_load(9, 6, L1(0), AT("past_k", 0), 4096)                            becomes
    dma_load_rows(9, 6, L1(0), AT("past_k", 0), 4096, "length", 16)         rows of 16 bytes

Where words hold four positions of an element, the new row goes to one byte of each, and rows come four at a time:

    dma_store(9, 7, AT("v", 0), L1(256), 16)              becomes
    dma_store_bytes(9, 7, AT("v", 0), L1(256), 16, 4)     four bytes from one to the next

and where a layer takes the new row from L2 it comes from there (`dma_load_bytes`).

In L3, what comes to L2 is no constant but rows of the state, no more of them than there are:

    l3_load(3, L2(0), 0, 4096)                            becomes
    l3_load_rows(3, L2(0), "past_k", 4096, "length", 16)  rows of 16 bytes, `length` of them

New rows of a state in L1 or L3 keep the pointer of their own: the caller appends them. So do those of a cache whose
earlier rows no transfer reads (there are none, or a kernel finds them itself), and of one whose length is known at run
time only: there, the entry points of a language model set the pointer.
"""

from dataclasses import replace

from tvm_pulp.planning.tir.statements import (
    AT,
    Address,
    FetchBytes,
    Main,
    MoveBytes,
    Positioned,
    counted,
    positioned,
)
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Network


def kv_cache(main: Main, tables: Tables) -> Main:
    """The function with every cache in one place."""
    bound, fetched = _bound_rows(tables), _fetched_rows(tables.plan.network)
    known, spread = _counted_rows(tables), _spread_rows(tables.plan.network)
    if not bound and not fetched and not known and not spread:
        return main

    def statement(made: Positioned) -> Positioned:
        if isinstance(made, FetchBytes) and made.writes[0].content in fetched:
            name = made.writes[0].content
            counter, row = fetched[name]
            return replace(made, offset=0, state=name, counter=counter, row=row)
        if not isinstance(made, MoveBytes) or made.external is None or made.outside is None:
            return made
        external, outside = made.external, made.outside
        if external.name in bound:
            name, first = bound[external.name]
            return replace(made, external=Address(AT, first + external.offset, name))
        if external.name in spread:
            apart = spread[external.name]
            return replace(made, external=replace(external, offset=apart * external.offset), apart=apart)
        if made.do == "load" and external.name in known and outside.line is None:
            counter, row, size = known[external.name]
            if (external.offset, outside.bytes) == (0, size):
                return replace(made, **counted(counter, row, size))
        return made

    return main.with_statements([statement(made) for made in positioned(main)])


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


def _counted_rows(tables: Tables) -> dict[str, tuple[str, int, int]]:
    """Names of caches in L2 with the input that counts their rows, bytes of a row and of all, where that is enough.

    It is if every layer that reads them is told how many there are.
    """
    network = tables.plan.network
    read = [{t.storage for t in p.layer.inputs} for p in tables.plan.layers] if network.states else []
    found = {}
    for state in network.states:
        past = network.inputs[state.past]
        if state.level == "l2" and state.counter is not None and len(past.spec.shape) == 2:
            counter = network.inputs[state.counter]
            readers = [inputs for inputs in read if past.storage in inputs]
            pointers = past.storage.name in tables.pointers and counter.storage.name in tables.pointers
            if pointers and all(counter.storage in inputs for inputs in readers):
                row = past.spec.bytes // (past.spec.shape[0] * state.together)
                found[past.storage.name] = (counter.storage.name, row, past.spec.bytes)
    return found


def _spread_rows(network: Network) -> dict[str, int]:
    """Names of outputs that go to single bytes of a cache's words, with how far those are apart."""
    return {t.storage.name: t.storage.apart for t in network.outputs if t.storage.apart}


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
