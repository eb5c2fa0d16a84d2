"""Roles of the inputs and outputs of an exported decoder.

A cache is an input of four axes that is joined with new rows and goes out, through nothing but quantization:

    past -> [QuantizeLinear -> DequantizeLinear] -> Concat(., new) -> [QuantizeLinear -> DequantizeLinear] -> present

Other inputs of tokens are integers and told apart by the names that exporters give them. What new rows of the first
cache do not depend on, and is no mask of tokens, is given: the same for all tokens of a text, as an encoder makes it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import onnx

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.onnx_protos import reached, readers_of

# What may happen to a cache on its way: every element by itself.
BY_ELEMENT = frozenset({"QuantizeLinear", "DequantizeLinear", "Identity", "Cast"})
_INTEGERS = (onnx.TensorProto.INT64, onnx.TensorProto.INT32)


@dataclass(frozen=True)
class CacheRole:
    """A cache: its input, its output, and the axis along which new rows are joined."""

    past: str
    present: str
    axis: int


@dataclass(frozen=True)
class GivenRole:
    """An input that is the same for all tokens; an axis whose length is open has a name."""

    name: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class Roles:
    """Names of inputs and outputs by purpose."""

    tokens: str
    positions: tuple[str, ...]
    masks: tuple[str, ...]
    caches: tuple[CacheRole, ...]
    logits: str
    given: tuple[GivenRole, ...] = ()

    def with_lengths(self, stated: Mapping[str, Sequence[int]]) -> "Roles":
        """Every length of given inputs fixed: by their stated shapes, and by others that share a name with one."""
        lengths: dict[str, int] = {}
        for role in self.given:
            shape = stated.get(role.name, role.shape)
            agrees = len(shape) == len(role.shape)
            for mine, wanted in zip(role.shape, shape, strict=agrees):
                agrees = agrees and (isinstance(mine, str) or mine == wanted)
                if isinstance(mine, str) and isinstance(wanted, int):
                    agrees = agrees and lengths.setdefault(mine, wanted) == wanted
            if not agrees:
                raise UserError(
                    f"--input-shapes: input '{role.name}' is {list(role.shape)} in the file, which {list(shape)} does "
                    "not match"
                )
        fixed = []
        for role in self.given:
            shape = tuple(stated.get(role.name, tuple(lengths.get(str(d), d) for d in role.shape)))
            # A batch is one text.
            shape = tuple(1 if place == 0 and isinstance(d, str) else d for place, d in enumerate(shape))
            if any(isinstance(d, str) for d in shape):
                raise UserError(
                    f"input '{role.name}' is the same for all tokens, like keys and values of an encoder, and has an "
                    f'open length: fix it, --input-shapes "{role.name}:[{",".join(map(str, shape))}]" with numbers'
                )
            fixed.append(GivenRole(role.name, shape))
        return replace(self, given=tuple(fixed))


def may_have_caches(model: Any) -> bool:
    """Tell if the inputs of a model or a file are worth a closer look; False for a file that is no model."""
    try:
        in_memory = model if isinstance(model, onnx.ModelProto) else onnx.load(model, load_external_data=False)
        inputs = in_memory.graph.input
    except Exception:  # whoever reads the model says what is wrong with it
        return False
    integers = any(i.type.tensor_type.elem_type in _INTEGERS for i in inputs)
    return integers and any(_is_symbolic(i, axis) for i in inputs for axis in (1, 2))


def find_roles(model: Any) -> Roles | None:
    """The roles in a graph with symbolic caches; None where there is no such cache."""
    graph = model.graph
    constants = {i.name for i in graph.initializer}
    inputs = {i.name: i for i in graph.input if i.name not in constants}
    joined = _caches(graph, inputs)
    caches = tuple(joined)
    if not caches or not any(_is_symbolic(inputs[c.past], c.axis) for c in caches):
        return None
    known = {c.past for c in caches}
    rest = [name for name in inputs if name not in known]
    makers = {name: node for node in graph.node for name in node.output}
    own = min((inputs_behind(node.input[1], makers) for node in joined.values()), key=len)
    read = {name for node in graph.node for name in node.input}
    masks = [n for n in rest if "mask" in n.lower()]
    positions = tuple(n for n in rest if "pos" in n.lower() and n not in masks)
    integers = [n for n in rest if n not in (*masks, *positions) and inputs[n].type.tensor_type.elem_type in _INTEGERS]
    tokens = [n for n in integers if n in own or n not in read]
    given = [n for n in rest if n not in (*masks, *positions, *tokens)]
    for name in given:
        kind = inputs[name].type.tensor_type
        joins = any(map(_joins, _behind(name, readers_of(graph.node))))
        if name not in read or kind.elem_type == onnx.TensorProto.BOOL or joins:
            raise UserError(f"input '{name}' {_unknown(kind, joins)}")
    lengths = {d.dim_param for n in given for d in inputs[n].type.tensor_type.shape.dim if d.dim_param}
    given += [n for n in masks if _is_given_mask(inputs[n], lengths)]
    if len(tokens) != 1:
        listed = ", ".join(f"'{n}'" for n in tokens) or "none"
        raise UserError(
            f"one input of token ids is needed beside masks, positions and caches, not {listed}: export it so"
        )
    moving = reached([n for n in inputs if n not in given], graph.node)
    outputs = [o.name for o in graph.output if o.name not in {c.present for c in caches}]
    # What depends on given inputs alone is known before the first token.
    outputs = [o for o in outputs if o in moving] if given else outputs
    logits = [o for o in outputs if "logits" in o.lower()] or outputs
    if len(logits) != 1 or len(outputs) != 1:
        listed = ", ".join(f"'{n}'" for n in outputs) or "none"
        raise UserError(f"one output of logits is needed beside the caches, not {listed}: export it so")
    roles = tuple(GivenRole(n, _dims(inputs[n])) for n in inputs if n in given)
    return Roles(tokens[0], positions, tuple(n for n in masks if n not in given), caches, logits[0], roles)


def _dims(value: Any) -> tuple[int | str, ...]:
    """Numbers, and names of what is open."""
    dims = value.type.tensor_type.shape.dim
    return tuple(
        d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else d.dim_param or f"{value.name}.{place}"
        for place, d in enumerate(dims)
    )


def _is_given_mask(value: Any, lengths: Collection[str]) -> bool:
    """Tell if a mask is not one of tokens, of which there are more and more: it is as long as what is given."""
    last = _dims(value)[-1]
    name = value.name.lower()
    return last in lengths or (isinstance(last, int) and last > 1) or ("encoder" in name and "decoder" not in name)


def inputs_behind(name: str, makers: Mapping[str, Any]) -> set[str]:
    """Inputs and constants that a value depends on; not those of which only the shape is looked at."""
    found, seen, names = set(), set(), [name]
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in makers:
            names += list(makers[name].input) if makers[name].op_type not in ("Shape", "Size") else []
        else:
            found.add(name)
    return found


def _unknown(kind: Any, joins: bool) -> str:
    """The reason why an input has no role, and the way out; `joins`: it is joined with other rows."""
    if kind.elem_type == onnx.TensorProto.BOOL:
        return "is a truth value beside tokens, masks, positions and caches: export the decoder without it"
    if joins and len(kind.shape.dim) == 4:
        return (
            "has the axes of a cache, but does not go out joined with new rows and unchanged otherwise: export the "
            "decoder with caches that keep every token"
        )
    if joins:
        return "is joined with others, but has not the four axes of a cache: export the decoder with such caches"
    return "is read by nothing: export the decoder without it"


def _is_symbolic(value: Any, axis: int) -> bool:
    dims = value.type.tensor_type.shape.dim
    return len(dims) == 4 and not (dims[axis].HasField("dim_value") and dims[axis].dim_value >= 0)


def _caches(graph: Any, inputs: dict[str, Any]) -> dict[CacheRole, Any]:
    """Caches in the order of the inputs, with the nodes that join them with new rows."""
    readers = readers_of(graph.node)
    outputs = {o.name for o in graph.output}
    found = {}
    for name, value in inputs.items():
        if len(value.type.tensor_type.shape.dim) != 4:
            continue
        joined = next((n for n in _behind(name, readers) if _joins(n)), None)
        if joined is None:
            continue
        names = [joined.output[0], *(n.output[0] for n in _behind(joined.output[0], readers) if n.op_type != "Concat")]
        present = next((n for n in names if n in outputs), None)
        if present is not None:
            axis = next(a.i for a in joined.attribute if a.name == "axis")
            found[CacheRole(name, present, axis % 4)] = joined
    return found


def _joins(node: Any) -> bool:
    return node.op_type == "Concat" and len(node.input) == 2


def _behind(name: str, readers: dict[str, list[Any]]) -> list[Any]:
    """Nodes that a value reaches through operators by element; other operators end the way."""
    found, names = [], [name]
    while names:
        for node in readers.get(names.pop(0), []):
            if node.op_type in BY_ELEMENT:
                found.append(node)
                names.append(node.output[0])
            elif _joins(node):
                found.append(node)
    return found
