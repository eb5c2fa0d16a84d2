"""Merged files: an input of one truth value chooses between a graph that begins a text and one that goes on.

use_cache_branch ─ If ─▶ then: caches joined with new rows       becomes the nodes of the branch that joins caches
                    └──▶ else: caches ignored                    (with no token before, it begins a text as well)

The branch is the one that was traced with caches, as a rule for a single token: it takes one at a time. Where it is
given keys and values of an encoder, and says nothing of them when it goes out, the other branch makes them of what the
encoder gave: that part of it comes first.
"""

from typing import Any

import onnx

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.onnx_protos import (
    alive,
    attributes_of,
    copied,
    execution_order,
    node_of,
    replace_all,
    with_names,
    with_nodes,
    without_unread_inputs,
)
from tvm_pulp.language_models.exported.roles import Roles, find_roles, inputs_behind

_BRANCHES = ("then_branch", "else_branch")
_FIRST = "first/"


def switches(model: Any) -> list[str]:
    """Inputs of one truth value that nothing but conditions of branches reads."""
    constants = {i.name for i in model.graph.initializer}
    truths = [
        i.name
        for i in model.graph.input
        if i.type.tensor_type.elem_type == onnx.TensorProto.BOOL and i.name not in constants
    ]
    readers = {name: {n.op_type for n in model.graph.node if name in n.input} for name in truths}
    return [name for name in truths if readers[name] == {"If"}]


def branch_with_caches(model: Any) -> onnx_file.Graph | None:
    """The graph with the branches that join caches in place of a switch; None where there is no such switch."""
    names = switches(model)
    if not names:
        return None
    reason = f"input '{names[0]}' switches between graphs of which none joins caches with new rows: export it so"
    for branch, other in (_BRANCHES, _BRANCHES[::-1]):
        made = _inlined(model, set(names), branch)
        without_unread_inputs(made.graph, {i.name for i in made.graph.input})
        try:
            roles = find_roles(onnx_file.from_model(made).model)
            if roles is not None:
                return onnx_file.from_model(_begun(made, roles, _inlined(model, set(names), other)))
        except UserError as error:
            reason = str(error)
    raise UserError(reason)


def _begun(model: Any, roles: Roles, other: Any) -> Any:
    """The graph with what the branch that begins a text makes of an encoder's results in place of inputs."""
    keys = [role.name for role in roles.given if len(role.shape) == 4]
    makers = {name: node for node in model.graph.node for name in node.output}
    theirs = {name: node for node in other.graph.node for name in node.output}
    given = {i.name for i in other.graph.input} - {roles.tokens, *(c.past for c in roles.caches)}
    empty = [
        o.name for o in model.graph.output if not inputs_behind(o.name, makers) & {i.name for i in model.graph.input}
    ]
    made = [o for o in empty if inputs_behind(o, theirs) & {i.name for i in other.graph.input} <= given]
    if not keys or len(made) != len(keys):
        return model
    first = copied(other.graph)
    replace_all(first.output, [o for o in first.output if o.name in made])
    first = alive(first)
    new = {
        v: f"{_FIRST}{v}" for v in (*(v for n in first.node for v in n.output), *(i.name for i in first.initializer))
    }
    first = with_names(first, new)
    nodes = [*first.node]
    nodes += [node_of("Identity", [new[o]], key) for o, key in zip(made, keys, strict=True)]
    joined = with_nodes(model, [*nodes, *model.graph.node], first.initializer)
    read = {v for n in nodes for v in n.input}
    known = [i for i in model.graph.input if i.name not in keys]
    more = [i for i in other.graph.input if i.name in read and i.name not in {k.name for k in known}]
    outputs = [o for o in model.graph.output if o.name not in empty]
    replace_all(joined.graph.input, [*known, *more])
    replace_all(joined.graph.output, outputs)
    ordered = execution_order(
        joined.graph.node,
        {*(i.name for i in joined.graph.input), *(i.name for i in joined.graph.initializer)},
        [o.name for o in outputs],
    )
    return with_nodes(joined, ordered)


def _inlined(model: Any, names: set[str], branch: str) -> Any:
    """The nodes of one branch in place of each `If` on these inputs, its values under names of their own."""
    nodes, constants = [], []
    taken = {v for n in model.graph.node for v in n.output} | {i.name for i in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type != "If" or node.input[0] not in names:
            nodes.append(node)
            continue
        body = attributes_of(node)[branch]
        results = {inner.name: outer for inner, outer in zip(body.output, node.output, strict=True)}
        made = {v for n in body.node for v in n.output if v} | {i.name for i in body.initializer}
        new = {v: results.get(v) or (f"{v}_inlined" if v in taken else v) for v in made}
        taken |= set(new.values())
        renamed = with_names(body, new)
        nodes += renamed.node
        constants += renamed.initializer
        # A branch may hand on what it was given.
        nodes += [node_of("Identity", [inner], outer) for inner, outer in results.items() if inner not in made]
    inlined = with_nodes(model, nodes, constants)
    replace_all(inlined.graph.input, [i for i in inlined.graph.input if i.name not in names])
    return inlined
