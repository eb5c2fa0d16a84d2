"""A temporal convolutional network: blocks of two causal convolutions with growing dilation, length 64."""

from typing import Any

import numpy as np

from tests.real_models.exported_graph import ExportedGraph

LENGTH, CHANNELS, WIDTH, KERNEL = 64, 16, 32, 3


def _causal(g: ExportedGraph, x: str, channels: int, dilation: int) -> str:
    """Convolution padded on both ends, then cut at the end, as every PyTorch TCN is written."""
    pad = (KERNEL - 1) * dilation
    y = g.conv(x, channels, WIDTH, KERNEL, rank=1, dilation=dilation, pads=[pad])
    return str(g.node("Relu", g.slice(y, 2, 0, -pad)))


def tcn(exporter: str) -> Any:
    g = ExportedGraph("tcn", exporter)
    x, channels = g.input("input", [1, CHANNELS, LENGTH]), CHANNELS
    for dilation in (1, 2, 4):
        y = _causal(g, _causal(g, x, channels, dilation), WIDTH, dilation)
        if channels != WIDTH:
            x = g.conv(x, channels, WIDTH, 1, rank=1)
        x = g.node("Relu", g.node("Add", y, x))
        channels = WIDTH
    last = g.node("Gather", x, g.constant(-1, np.int64), axis=2)
    result = g.gemm(last, WIDTH, 10)
    g.output(result, [1, 10])
    return g.model()
