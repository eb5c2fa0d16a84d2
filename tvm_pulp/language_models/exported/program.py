"""One program of an exported decoder as an ordinary ONNX graph of fixed shapes, and what its inputs hold.

What several layers share is dequantized, passed on and quantized again; of a constant that is a constant of integers:

    QuantizeLinear(Identity(DequantizeLinear(constant)))
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import numpy_helper

from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.onnx_fold import fold
from tvm_pulp.frontend.onnx_protos import (
    alive,
    constant_of,
    replace_all,
    static_shape,
    with_nodes,
    without_unread_inputs,
)
from tvm_pulp.frontend.onnx_shapes import value_shapes
from tvm_pulp.language_models.entry_module import CacheRows, Purpose, Source
from tvm_pulp.language_models.exported.cache_rows import HIDDEN, BoundCache, hide_unwritten
from tvm_pulp.language_models.exported.encoded import Encoded, cut_off
from tvm_pulp.language_models.exported.positional import BoundPositions
from tvm_pulp.language_models.exported.roles import Roles
from tvm_pulp.language_models.exported.specialize import OpenGraph, specialize
from tvm_pulp.language_models.exported.token_rows import bind_tokens


@dataclass(frozen=True)
class DecoderGraph:
    """The model, what its inputs hold, and its caches in their order; logits go out first, then new rows."""

    model: Any
    sources: tuple[Source, ...]
    caches: tuple[CacheRows, ...]
    past: int


def decoder_graph(
    source: onnx_file.Graph | OpenGraph,
    roles: Roles,
    capacity: int,
    rows: int,
    *,
    hide: bool,
    encoded: Encoded | None = None,
) -> DecoderGraph:
    """The graph for `rows` tokens behind up to `capacity` less `rows` others; `encoded`: what all tokens share."""
    model, opset = source.model, source.opset
    past = capacity - rows
    lengths = dict.fromkeys((past, max(past - 1, 1), past // 2 or 1, 1))
    samples = [specialize(source, roles, length, rows) for length in lengths]
    whole = specialize(source, roles, 0, capacity)
    graph = samples[0].graph
    given = () if encoded is None else tuple(info.name for info in encoded.values)
    if encoded is not None:
        cut_off(graph, encoded)
    moving = {roles.tokens, *given, *(c.past for c in roles.caches)}
    positions = BoundPositions(samples, whole, opset, moving).bind()
    known_shapes = {i.name: shape for i in graph.input if (shape := static_shape(i)) is not None}
    shapes = {**known_shapes, **value_shapes(graph, model.opset_import, known_shapes)}
    tokens = bind_tokens(graph, roles.tokens, shapes, opset)
    caches = tuple(BoundCache(graph, cache).bind(past, rows) for cache in roles.caches)
    pasts = {c.past for c in caches}
    graph = alive(quantized_constants(graph, opset))
    if hide:
        hide_unwritten(graph, pasts, past, rows, given)
    held = [*tokens, *positions, *(Source(name, Purpose.PAST) for name in pasts), Source(HIDDEN, Purpose.UNWRITTEN)]
    known = {source.name: source for source in (*held, *(Source(name, Purpose.ENCODED) for name in given))}
    constants = {i.name for i in graph.initializer}
    without_unread_inputs(graph, {*given, *(role.name for role in roles.given)})
    sources = tuple(known[i.name] for i in graph.input if i.name not in constants)
    made = with_nodes(model, ())
    made.graph.CopyFrom(alive(graph))
    return DecoderGraph(made, sources, caches, past)


def quantized_constants(graph: Any, opset: int) -> Any:
    """Changes the graph, and returns it."""
    constants = {i.name: i for i in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    values: dict[str, np.ndarray | None] = {}

    def value(name: str) -> np.ndarray | None:
        if name not in values:
            values[name] = None
            if name in constants:
                values[name] = numpy_helper.to_array(constants[name])
            elif name in makers and makers[name].op_type in ("Identity", "DequantizeLinear", "QuantizeLinear"):
                operands = {n: value(n) for n in makers[name].input if n}
                known = {n: o for n, o in operands.items() if o is not None}
                results = fold(makers[name], known, opset) if len(known) == len(operands) else None
                values[name] = None if results is None else results[0]
        return values[name]

    kept = []
    for node in graph.node:
        made = value(node.output[0]) if node.op_type == "QuantizeLinear" else None
        if made is None:
            kept.append(node)
        else:
            graph.initializer.append(constant_of(node.output[0], made))
    replace_all(graph.node, kept)
    return graph
