"""Roles of the inputs and outputs of an exported decoder.

A cache is an input of four axes that is joined with new rows and goes out, through nothing but quantization:

    past -> [QuantizeLinear -> DequantizeLinear] -> Concat(., new) -> [QuantizeLinear -> DequantizeLinear] -> present

Inputs beside caches are integers and told apart by the names that exporters give them.
"""

from dataclasses import dataclass
from typing import Any

import onnx

from tvm_pulp.errors import UserError

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
class Roles:
    """Names of inputs and outputs by purpose."""

    tokens: str
    positions: tuple[str, ...]
    masks: tuple[str, ...]
    caches: tuple[CacheRole, ...]
    logits: str


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
    caches = _caches(graph, inputs)
    if not caches or not any(_is_symbolic(inputs[c.past], c.axis) for c in caches):
        return None
    known = {c.past for c in caches}
    rest = [name for name in inputs if name not in known]
    masks = tuple(n for n in rest if "mask" in n.lower())
    positions = tuple(n for n in rest if "pos" in n.lower() and n not in masks)
    tokens = [n for n in rest if n not in masks and n not in positions]
    for name in rest:
        if inputs[name].type.tensor_type.elem_type not in _INTEGERS and name not in masks:
            readers = {node.op_type for node in graph.node if name in node.input}
            raise UserError(f"input '{name}' {_unknown(inputs[name].type.tensor_type, readers)}")
    if len(tokens) != 1:
        listed = ", ".join(f"'{n}'" for n in tokens) or "none"
        raise UserError(
            f"one input of token ids is needed beside masks, positions and caches, not {listed}: export it so"
        )
    outputs = [o.name for o in graph.output if o.name not in {c.present for c in caches}]
    logits = [o for o in outputs if "logits" in o.lower()] or outputs
    if len(logits) != 1 or len(outputs) != 1:
        listed = ", ".join(f"'{n}'" for n in outputs) or "none"
        raise UserError(f"one output of logits is needed beside the caches, not {listed}: export it so")
    return Roles(tokens[0], positions, masks, caches, logits[0])


def _unknown(kind: Any, readers: set[str]) -> str:
    """The reason why an input that is no integers has no role, and the way out; `readers`: operators that read it."""
    if kind.elem_type == onnx.TensorProto.BOOL:
        return "is a truth value beside tokens, masks, positions and caches: export the decoder without it"
    if len(kind.shape.dim) == 4 and not readers & (BY_ELEMENT | {"Concat"}):
        return (
            "has the axes of a cache and is never joined with new rows, like keys and values of an encoder: decoders "
            "beside an encoder do not generate; fix every length with --input-shapes to run a step as a network"
        )
    if len(kind.shape.dim) == 4:
        return (
            "has the axes of a cache, but does not go out joined with new rows and unchanged otherwise: export the "
            "decoder with caches that keep every token"
        )
    return "holds neither tokens nor a cache: export the decoder with tokens, masks, positions and caches only"


def _is_symbolic(value: Any, axis: int) -> bool:
    dims = value.type.tensor_type.shape.dim
    return len(dims) == 4 and not (dims[axis].HasField("dim_value") and dims[axis].dim_value >= 0)


def _caches(graph: Any, inputs: dict[str, Any]) -> tuple[CacheRole, ...]:
    """In the order of the inputs."""
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    outputs = {o.name for o in graph.output}
    found = []
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
            found.append(CacheRole(name, present, axis % 4))
    return tuple(found)


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
