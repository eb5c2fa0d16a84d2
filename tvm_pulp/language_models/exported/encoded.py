"""The part of a decoder that is the same for all tokens: computed once for a text, its results are state.

    given -> linear -> heads -> keys      tokens, caches -> ... scores with keys       becomes
    given -> linear -> heads -> keys'     and      tokens, caches, keys' -> ...

What depends on given inputs and constants alone, for every number of tokens in the same way, belongs to it. Values
between the two parts are what integers a quantization made rather than the reals they stand for, and no truth values.
An encoder of a file of its own comes first, its outputs in place of given inputs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.onnx_protos import (
    alive,
    copied,
    node_of,
    replace_all,
    static_shape,
    with_names,
    without_unread_inputs,
)
from tvm_pulp.frontend.onnx_shapes import fold_shapes, input_shapes, value_infos
from tvm_pulp.language_models.exported.roles import Roles
from tvm_pulp.language_models.exported.specialize import OpenGraph, Specialized, specialize

# Operators that move values and change none.
_MOVES = ("Transpose", "Reshape", "Unsqueeze", "Squeeze", "Identity", "Slice", "Expand")
_BEFORE = "encoder/"


@dataclass(frozen=True)
class Encoder:
    """A graph of its own with fixed shapes, and the given input of the decoder that every output of it becomes."""

    graph: Any
    opset: int
    outputs: Mapping[str, str]  # given input -> output


@dataclass(frozen=True)
class Encoded:
    """Values that programs of tokens read, as ONNX describes them, and the model of those that are no inputs."""

    values: tuple[Any, ...]
    model: Any | None


def encoded_part(source: onnx_file.Graph | OpenGraph, roles: Roles, encoder: Encoder | None) -> Encoded:
    """The values between both parts; expects lengths of given inputs to be fixed."""
    samples = [specialize(source, roles, past, rows) for past, rows in ((1, 1), (2, 3))]
    graph = samples[0].graph
    shapes = {role.name: role.shape for role in roles.given}
    infos = value_infos(graph, source.model.opset_import, {n: [int(d) for d in s] for n, s in shapes.items()})
    steady, fixed = _steady(samples, set(shapes), infos)
    makers = {name: node for node in graph.node for name in node.output}
    cut: dict[str, None] = {}
    for sample in samples:
        for node in sample.graph.node:
            if node.output[0] not in steady:
                cut |= dict.fromkeys(c for n in node.input if n in steady for c in _cuts(n, steady, makers, infos))
    if encoder is not None and encoder.opset != source.opset:
        raise UserError(
            f"--encoder: it is of opset {encoder.opset} and the decoder of opset {source.opset}: export both for one"
        )
    made_elsewhere = encoder.outputs if encoder is not None else {}
    wanted = [n for n in cut if n not in shapes or n in made_elsewhere]
    values = tuple(infos[n] for n in cut)
    if not wanted:
        return Encoded(values, None)
    nodes, constants = [], list(graph.initializer)
    given = [i for i in graph.input if i.name in shapes and i.name not in made_elsewhere]
    if encoder is not None:
        nodes += [*encoder.graph.node]
        constants += encoder.graph.initializer
        given += encoder.graph.input
        nodes += [node_of("Identity", [output], name) for name, output in made_elsewhere.items()]
    nodes += [n for n in graph.node if n.output[0] in steady or n.output[0] in fixed]
    return Encoded(values, _model(source.model, nodes, constants, given, [infos[n] for n in wanted]))


def cut_off(graph: Any, encoded: Encoded) -> None:
    """Changes the graph of a number of tokens: values of the other part are inputs."""
    names = {info.name for info in encoded.values}
    replace_all(graph.node, [n for n in graph.node if not any(o in names for o in n.output)])
    present = {i.name for i in graph.input}
    graph.input.extend(info for info in encoded.values if info.name not in present)


def separate_encoder(
    graph: onnx_file.Graph, roles: Roles, stated: Mapping[str, Any]
) -> tuple[Encoder, dict[str, tuple[int, ...]]]:
    """An encoder of a file of its own for inputs of these shapes, and the shapes of given inputs that it makes."""
    shapes = input_shapes(graph, {name: shape for name, shape in stated.items() if name in graph.inputs})
    opsets = graph.model.opset_import
    folded, _ = fold_shapes(copied(graph.model.graph), opsets, shapes, graph.opset)
    infos = value_infos(folded, opsets, shapes)
    outputs = {o.name: infos[o.name] for o in folded.output if o.name in infos}
    pairs = _paired(roles, outputs)
    made = {}
    for name, output in pairs.items():
        shape = static_shape(infos[output])
        if shape is None:
            raise UserError(f"--encoder: the shape of its output '{output}' is not known before it runs: export it so")
        made[name] = shape
    names = {n for node in folded.node for n in (*node.input, *node.output) if n} | {i.name for i in folded.initializer}
    renamed = {name: f"{_BEFORE}{name}" for name in names if name not in shapes}
    clash = [n for n in shapes if n in {r.name for r in roles.given} - set(pairs)]
    if clash:
        raise UserError(
            f"--encoder: its input '{clash[0]}' is an input of the decoder too: export one under another name"
        )
    kept = [i for i in folded.input if i.name in shapes]
    typed = [helper.make_tensor_value_info(i.name, i.type.tensor_type.elem_type, shapes[i.name]) for i in kept]
    made_graph = with_names(folded, renamed)
    for node in made_graph.node:
        node.name = f"{_BEFORE}{node.name}"
    replace_all(made_graph.input, typed)
    return Encoder(made_graph, graph.opset, {name: renamed.get(o, o) for name, o in pairs.items()}), made


def _paired(roles: Roles, outputs: Mapping[str, Any]) -> dict[str, str]:
    """Given inputs and the outputs that they are: of the same name, else in their order."""
    pairs = {role.name: role.name for role in roles.given if role.name in outputs}
    left = [name for name in outputs if name not in pairs.values()]
    open_inputs = [role for role in roles.given if role.name not in pairs]
    ranks = {name: len(outputs[name].type.tensor_type.shape.dim) for name in left}
    for name in left:
        alike = [role for role in open_inputs if role.name not in pairs and len(role.shape) == ranks[name]]
        if alike and sum(ranks[n] == ranks[name] for n in left) == sum(
            len(r.shape) == ranks[name] for r in open_inputs
        ):
            pairs[alike[0].name] = name
    if not pairs:
        wanted = ", ".join(f"'{role.name}' {list(role.shape)}" for role in roles.given) or "nothing"
        raise UserError(
            f"--encoder: its outputs ({', '.join(map(repr, outputs))}) are not what the decoder is given ({wanted}): "
            "export an encoder whose outputs have those names or their order"
        )
    return pairs


def _steady(samples: list[Specialized], given: set[str], infos: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Values that depend on given inputs in the same way for every number of tokens; and those of constants alone."""
    one, two = samples
    others = {node.output[0]: node for node in two.graph.node}
    steady, fixed = set(given), set[str]()
    for node in one.graph.node:
        other = others.get(node.output[0])
        if other is None or _described(node) != _described(other):
            continue
        names = [n for n in node.input if n]
        if not all(n in steady or n in fixed or _same(n, one, two) for n in names):
            continue
        if not any(n in steady for n in names):
            fixed |= set(node.output)
        elif all(o in infos and static_shape(infos[o]) is not None for o in node.output if o):
            steady |= set(node.output)
    return steady, fixed


def _described(node: Any) -> tuple[Any, ...]:
    attributes = sorted(a.SerializeToString() for a in node.attribute)
    return node.op_type, list(node.input), list(node.output), attributes


def _same(name: str, one: Specialized, two: Specialized) -> bool:
    a, b = one.values.get(name), two.values.get(name)
    return a is not None and b is not None and a.dtype == b.dtype and np.array_equal(a, b)


def _cuts(name: str, steady: set[str], makers: Mapping[str, Any], infos: Mapping[str, Any]) -> Iterable[str]:
    """The values that stand for one that is read: before what makes reals of integers, or truth values."""
    maker = makers.get(name)
    if maker is None:
        return [name]
    truth = infos[name].type.tensor_type.elem_type == onnx.TensorProto.BOOL
    if truth or _dequantizes(maker, makers):
        return [c for n in maker.input if n in steady for c in _cuts(n, steady, makers, infos)]
    return [name]


def _dequantizes(node: Any, makers: Mapping[str, Any]) -> bool:
    while node.op_type in _MOVES and node.input[0] in makers:
        node = makers[node.input[0]]
    return bool(node.op_type == "DequantizeLinear")


def _model(like: Any, nodes: list[Any], constants: list[Any], given: list[Any], outputs: list[Any]) -> Any:
    """A model of what the outputs need of these nodes."""
    made_here = {name for node in nodes for name in node.output}
    inputs = [i for i in given if i.name not in made_here]
    graph = alive(helper.make_graph(nodes, "encoder", inputs, outputs, constants))
    made = helper.make_model(without_unread_inputs(graph, {i.name for i in inputs}))
    made.ir_version = like.ir_version
    replace_all(made.opset_import, like.opset_import)
    return made
