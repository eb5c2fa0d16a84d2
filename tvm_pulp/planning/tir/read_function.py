"""The main function read from TIR: the one place that knows at which position of a call what stands.

What a call leaves out (layer, tile, contents of memory, cycles) is the plan's; what it says is obeyed.
"""

from dataclasses import replace
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.planning.program.actions import WaitForJob, WaitForL3
from tvm_pulp.planning.tir.statements import (
    CALLS,
    L1,
    L2,
    Address,
    CallKernel,
    FetchBytes,
    Main,
    MoveBytes,
    Statement,
    SubmitJob,
    argument_fields,
    counted,
)
from tvm_pulp.planning.tir.tables import Tables

# Fields that calls do not say: core 0 waits.
_ALWAYS: dict[type[Any], dict[str, Any]] = {WaitForJob: {"agent": 0}, WaitForL3: {"agent": 0, "l3": True}}


def read_function(function: Any, tables: Tables, has_agents: bool) -> Main:
    """The records of a main function. `has_agents`: it comes from `synchronise`, or from a pass behind it."""
    statements = tuple(_statement(made.value, tables, has_agents) for made in function.body.seq)
    return Main(tables.plan.network.name, statements, has_agents, function)


def _statement(call: Any, tables: Tables, has_agents: bool) -> Statement:
    name, *arguments = (_value(argument) for argument in call.args)
    if name not in CALLS:
        raise UserError(f"a TIR pass left '{name}' in the main function: use the calls that the passes before it use")
    kind, told = CALLS[name][0], dict(zip(argument_fields(name, has_agents), arguments, strict=True))
    if kind is MoveBytes:
        return _transfer(told, tables)
    if kind is FetchBytes:
        made = tables.fetch(tables.fetch_at(told["position"], told["target"]))
        access = replace(made.writes[0], bytes=told.pop("bytes"))
        return replace(made, writes=(access,), **{"offset": 0, **told})
    if kind in (CallKernel, SubmitJob):
        return replace(tables.compute(tables.slots[told["slot"]]), **told)
    statement: Statement = kind(**told, **_ALWAYS.get(kind, {}))
    return statement


def _transfer(told: dict[str, Any], tables: Tables) -> MoveBytes:
    move, local = tables.moves[told["move"]], told["local"]
    packed = local.offset - move.place.address
    part = next((t for t in move.transfers if t.local == packed), None)
    if part is None:
        raise UserError(f"a TIR pass moved a transfer of layer {move.layer} in L1: leave it where its buffer is")
    size = told.pop("bytes")
    part = replace(part, bytes=size, line=told.pop("line", size), stride=told.pop("stride", size))
    if "counter" in told:
        told |= counted(told["counter"], told["row"], size)
    made = tables.transfer(told["move"], replace(part, external=told.get("offset", part.external)))
    return replace(made, **told)


def _value(argument: Any) -> Any:
    """A number, a name or an address."""
    if not hasattr(argument, "args"):
        return argument.value
    kind, *values = (part.value for part in argument.args)
    return Address(kind, values[0]) if kind in (L1, L2) else Address(kind, values[1], values[0])
