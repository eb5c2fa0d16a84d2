"""nn.LSTM and nn.GRU over 20 steps of 16 values, 32 hidden, and a classifier of the last step; behind convolutions."""

from typing import Any

import numpy as np

from tests.frontend.recurrent_networks import keyword_spotting
from tests.real_models.exported_graph import ExportedGraph

STEPS, WIDTH, HIDDEN = 20, 16, 32
GATES = {"LSTM": 4, "GRU": 3}


def _initial_state(g: ExportedGraph, sequence: str) -> str:
    """Zeros, which the legacy exporter expands to the batch it reads from the input's shape."""
    if not g.legacy:
        return g.constant(np.zeros((1, 1, HIDDEN)))
    zeros = g.constant(np.zeros((1, 1, HIDDEN)))
    batch = g.node("Gather", g.node("Shape", sequence), g.constant(1, np.int64))
    batch = g.node("Unsqueeze", batch, g.integers(0))
    hidden, one = g.integers(HIDDEN), g.integers(1)
    return str(g.node("Expand", zeros, g.node("Concat", one, batch, hidden, axis=0)))


def _recurrent(op: str, exporter: str) -> Any:
    g = ExportedGraph(op.lower(), exporter)
    rows, scale = GATES[op] * HIDDEN, 1 / np.sqrt(HIDDEN)
    sequence = g.transpose(g.input("input", [1, STEPS, WIDTH]), 1, 0, 2)
    states = [_initial_state(g, sequence) for _ in range(2 if op == "LSTM" else 1)]
    weights = [g.parameter(g.normal(1, rows, w, scale=2 * scale), f"{op}.weight{w}") for w in (WIDTH, HIDDEN)]
    weights.append(g.parameter(g.normal(1, 2 * rows, scale=scale), f"{op}.bias"))
    attributes: dict[str, Any] = {"hidden_size": HIDDEN}
    if op == "GRU":
        attributes["linear_before_reset"] = 1
    if not g.legacy:
        attributes |= {"direction": "forward", "layout": 0}
        attributes |= {"input_forget": 0} if op == "LSTM" else {}
    results = g.node(op, sequence, *weights, "", *states, outputs=3 if op == "LSTM" else 2, **attributes)
    if g.legacy:
        steps = g.node("Squeeze", results[0], g.integers(1))
    else:
        steps = g.transpose(results[0], 0, 2, 1, 3)
        steps = g.node("Reshape", steps, g.integers(STEPS, 1, HIDDEN), allowzero=0)
    last = g.node("Gather", g.transpose(steps, 1, 0, 2), g.constant(-1, np.int64), axis=1)
    result = g.gemm(last, HIDDEN, 10)
    g.output(result, [1, 10])
    return g.model()


def lstm(exporter: str) -> Any:
    return _recurrent("LSTM", exporter)


def gru(exporter: str) -> Any:
    return _recurrent("GRU", exporter)


def keywords_gru(_exporter: str) -> Any:
    """Keywords by two convolutions and a GRU of 25 steps, which quantizers leave in float."""
    return keyword_spotting("GRU", frames=50, hidden=64, bins=40, classes=12, linear_before_reset=1)


def keywords_lstm(_exporter: str) -> Any:
    return keyword_spotting("LSTM", frames=50, hidden=64, bins=40, classes=12)
