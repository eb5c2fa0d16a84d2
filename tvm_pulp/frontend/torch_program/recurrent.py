"""LSTM, GRU and RNN layers, stacked and in both directions, as ONNX's recurrent nodes."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue
from tvm_pulp.frontend.torch_program.elementwise import Operators

# PyTorch's gates in the order of ONNX's.
_ORDER = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


def _reordered(array: np.ndarray, kind: str) -> np.ndarray:
    gates = np.split(array, len(_ORDER[kind]))
    return np.concatenate([gates[i] for i in _ORDER[kind]])


def layers(
    kind: str,
    function: str,
    g: GraphBuilder,
    x: GraphValue,
    states: Any,
    parameters: Sequence[GraphValue],
    *settings: Any,
) -> list[str]:
    """Results of the last layer, then the last states of all: hidden ones, and cells of an LSTM."""
    has_bias, count, _dropout, _train, both, batch_first = settings
    initial = [states] if isinstance(states, GraphValue) else states
    directions, per = 2 if both else 1, 4 if has_bias else 2
    attributes: dict[str, Any] = {"linear_before_reset": 1} if kind == "GRU" else {}
    if function:
        attributes = {"activations": [function] * directions}
    if len(parameters) != count * directions * per or any(g.array(p) is None for p in parameters):
        raise UserError("a recurrent layer has projections or weights that are not constant: write it without")
    refuse_if(x.rank != 3, "a recurrent layer without a batch is not supported: give it a batch of one")
    value = g.permuted(x, 1, 0, 2) if batch_first else x.name
    ends: list[list[str]] = [[] for _ in initial]
    for layer in range(count):
        held = [g.array(p) for p in parameters[layer * directions * per : (layer + 1) * directions * per]]
        arrays = [a for a in held if a is not None]
        chosen = [arrays[d * per : (d + 1) * per] for d in range(directions)]
        stacks = [np.stack([_reordered(c[i], kind) for c in chosen]) for i in range(per)]
        bias = np.concatenate(stacks[2:], axis=1) if has_bias else None
        first_states = [_states(g, s, layer, count, directions) for s in initial]
        operands = [value, stacks[0], stacks[1], bias, None, *first_states]
        names = g.emit_many(
            kind,
            operands,
            1 + len(initial),
            hidden_size=stacks[1].shape[2],
            direction="bidirectional" if both else "forward",
            **attributes,
        )
        steps, batch = (x.shape[1], x.shape[0]) if batch_first else x.shape[:2]
        turned = g.permuted(names[0], 0, 2, 1, 3)
        value = g.reshape(turned, [steps, batch, directions * stacks[1].shape[2]])
        for place, name in enumerate(names[1:]):
            ends[place].append(name)
    result = g.permuted(value, 1, 0, 2) if batch_first else value
    return [result, *(g.joined(e, 0) for e in ends)]


def _states(g: GraphBuilder, state: GraphValue, layer: int, count: int, directions: int) -> Any:
    held = g.array(state)
    first, last = layer * directions, (layer + 1) * directions
    if held is not None:
        return held[first:last] if held.any() else None
    if count == 1:
        return state
    return g.cut(state, 0, first, last)


OPERATORS: Operators = {
    "aten.lstm.input": partial(layers, "LSTM", ""),
    "aten.gru.input": partial(layers, "GRU", ""),
    "aten.rnn_tanh.input": partial(layers, "RNN", "Tanh"),
    "aten.rnn_relu.input": partial(layers, "RNN", "Relu"),
}
