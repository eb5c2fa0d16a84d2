"""The main function read from TIR: the one place that knows at which position of a call what stands.

What a call leaves out (layer, tile, contents of memory, cycles) is the plan's; what it says is obeyed.
"""

from dataclasses import replace
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.planning.tir.statements import (
    BUFFER,
    CALLS,
    L1,
    L2,
    Address,
    FetchBytes,
    Main,
    MoveBytes,
    RunLayer,
    Statement,
    SubmitJob,
    counted,
)
from tvm_pulp.planning.tir.tables import Tables


def read_function(function: Any, tables: Tables, has_agents: bool) -> Main:
    """The records of a main function. `has_agents`: it comes from `insert_barriers`, or from a pass behind it."""
    statements = tuple(_statement(made.value, tables, has_agents) for made in function.body.seq)
    return Main(tables.plan.network.name, statements, has_agents, function)


def _statement(call: Any, tables: Tables, has_agents: bool) -> Statement:
    name, *arguments = (_value(argument) for argument in call.args)
    if name in CALLS:
        kind, fields, rest = CALLS[name]
        made: Statement = kind(**dict(zip(fields, arguments, strict=True)), **rest)
        return made
    if name == "run":
        layer, operator, *operands = arguments
        return RunLayer(layer, operator, tuple(o.name for o in operands))
    if name == "l3_load":
        position, target, offset, size = arguments
        return _fetch(tables, position, target, size, offset=offset)
    if name == "l3_load_rows":
        position, target, state, size, counter, row = arguments
        return _fetch(tables, position, target, size, state=state, counter=counter, row=row)
    if name in ("call", "submit"):
        position, slot, place, *ticket = arguments
        compute = replace(tables.compute(tables.slots[slot]), position=position, arguments=place)
        return replace(compute, ticket=ticket[0]) if isinstance(compute, SubmitJob) and ticket else compute
    if name.startswith("dma_"):
        return _transfer(name, arguments, tables, has_agents)
    raise UserError(f"a TIR pass left '{name}' in the main function: use the calls that the passes before it use")


def _fetch(tables: Tables, position: int, target: Address, size: int, **told: Any) -> FetchBytes:
    made = tables.fetch(tables.fetch_at(position, target))
    access = replace(made.writes[0], bytes=size)
    return replace(made, target=target, writes=(access,), **{"offset": 0, **told})


def _transfer(name: str, arguments: list[Any], tables: Tables, has_agents: bool) -> MoveBytes:
    agent = arguments.pop(0) if has_agents else 0
    position, number, first, second, *sizes = arguments
    move = tables.moves[number]
    local, external = (second, first) if name.startswith("dma_store") else (first, second)
    packed = local.offset - (move.place.offset if local.kind == BUFFER else move.place.address)
    part = next((t for t in move.transfers if t.local == packed), None)
    if part is None:
        raise UserError(f"a TIR pass moved a transfer of layer {move.layer} in L1: leave it where its buffer is")
    told: dict[str, Any] = {}
    if name == "dma_load_bundle":
        external, part = None, replace(part, external=sizes.pop(0))
    size, *lines = sizes
    if name == "dma_load_rows":
        (counter, row), lines = lines, []
        told = counted(counter, row, size)
    elif name == "dma_store_bytes":
        told, lines = {"apart": lines[0]}, []
    line, stride = lines or (size, size)
    made = tables.transfer(number, replace(part, bytes=size, line=line, stride=stride))
    return replace(made, agent=agent, position=position, local=local, external=external, **told)


def _value(argument: Any) -> Any:
    """A number, a name or an address."""
    if not hasattr(argument, "args"):
        return argument.value
    kind, *values = (part.value for part in argument.args)
    return Address(kind, values[0]) if kind in (L1, L2) else Address(kind, values[1], values[0])
