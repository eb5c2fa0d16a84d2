"""Networks of sequences: keyword spotting with recurrent layers, dilated and depthwise convolutions along time."""

from typing import Any

import numpy as np

from tests.hub.feature_map import FeatureMap, picture
from tests.real_models.exported_graph import ExportedGraph

Draw = np.random.Generator
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _recurrent(g: ExportedGraph, op: str, x: str, width: int, hidden: int, both: bool) -> str:
    """nn.LSTM and its like on [steps, 1, width]; the last step of every direction."""
    directions, rows, scale = 1 + both, GATES[op] * hidden, 1 / np.sqrt(hidden)
    weights = [g.parameter(g.normal(directions, rows, w, scale=scale)) for w in (width, hidden)]
    weights.append(g.parameter(g.normal(directions, 2 * rows, scale=scale)))
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": "bidirectional" if both else "forward"}
    if op == "GRU":
        attributes["linear_before_reset"] = 1
    results = g.node(op, x, *weights, outputs=3 if op == "LSTM" else 2, **attributes)
    return g.reshape(g.transpose(results[1], 1, 0, 2), 1, directions * hidden)


def _keywords(g: ExportedGraph, draw: Draw, op: str) -> Any:
    """Convolutions along time, a recurrent layer, a matrix."""
    width, hidden, steps = int(draw.choice([32, 48, 64])), int(draw.choice([32, 48, 64])), int(draw.choice([32, 48]))
    x = picture(g, 40, steps).conv(width, 5, stride=2).conv(width, 3)
    last = _recurrent(g, op, g.transpose(x.value, 2, 0, 1), width, hidden, both := bool(draw.integers(0, 3) == 0))
    g.output(g.gemm(last, hidden * (1 + both), 12), [1, 12])
    return g.model()


def keywords_gru(g: ExportedGraph, draw: Draw) -> Any:
    return _keywords(g, draw, "GRU")


def keywords_lstm(g: ExportedGraph, draw: Draw) -> Any:
    return _keywords(g, draw, "LSTM")


def keywords_rnn(g: ExportedGraph, draw: Draw) -> Any:
    return _keywords(g, draw, "RNN")


def wavenet(g: ExportedGraph, draw: Draw) -> Any:
    """Gated dilated convolutions along time, skips that are summed."""
    width, steps = int(draw.choice([16, 32])), int(draw.choice([64, 128]))
    x = picture(g, 1, steps).conv(width, 3, "")
    skips: FeatureMap | None = None
    for dilation in (1, 2, 4, 8):
        halves = x.conv(2 * width, 3, "", dilation=dilation).halves()
        opened = g.node("Mul", halves[0].activated("Tanh").value, halves[1].activated("Sigmoid").value)
        y = FeatureMap(g, opened, width, x.size).conv(width, 1, "")
        skips = y if skips is None else skips.plus(y)
        x = x.plus(y)
    assert skips is not None
    return skips.activated("Relu").conv(width, 1).classified()


def separable_sequence(g: ExportedGraph, draw: Draw) -> Any:
    """QuartzNet and wav2letter: long depthwise windows along time."""
    width, steps = int(draw.choice([32, 64])), int(draw.choice([64, 100]))
    x = picture(g, 40, steps).conv(width, 11, stride=2, pads=[5])
    for kernel in (9, 15):
        y = x.depthwise(kernel, "").conv(width, 1, "")
        x = x.plus(y, "Relu")
    return x.conv(2 * width, 1).conv(28, 1, "").result()


def resnet_of_sequences(g: ExportedGraph, draw: Draw) -> Any:
    """Electrocardiograms: residual convolutions along time."""
    width = int(draw.choice([16, 32]))
    x = picture(g, 12, 256).conv(width, 15, stride=2, pads=[7])
    for factor in (1, 2, 4):
        stride = 1 if factor == 1 else 2
        y = x.conv(width * factor, 7, stride=stride, pads=[3]).conv(width * factor, 7, "")
        straight = x if factor == 1 else x.conv(width * factor, 1, "", stride=2, pads=[0])
        x = straight.plus(y, "Relu")
    return x.classified()
