"""A detector like YOLO: three strided stages of 16, 32 and 64 channels, SiLU, two scales, sigmoid heads."""

from typing import Any

from tests.real_models.exported_graph import ExportedGraph
from tests.real_models.unet import upsample

# Per anchor: box, objectness, class; three anchors.
PREDICTIONS = 18


def _conv(g: ExportedGraph, x: str, channels: int, filters: int, kernel: int, stride: int = 1) -> str:
    """Convolution with folded batch normalization and SiLU as exporters write it."""
    y = g.conv(x, channels, filters, kernel, stride=stride)
    return str(g.node("Mul", y, g.node("Sigmoid", y)))


def yolo(exporter: str) -> Any:
    g = ExportedGraph("yolo", exporter)
    x = _conv(g, g.input("input", [1, 3, 64, 64]), 3, 16, 3, 2)
    fine = _conv(g, _conv(g, x, 16, 32, 3, 2), 32, 32, 3)
    coarse = _conv(g, _conv(g, fine, 32, 64, 3, 2), 64, 64, 3)
    up = upsample(g, coarse, "nearest", "asymmetric")
    merged = _conv(g, g.node("Concat", up, fine, axis=1), 96, 32, 1)
    first = g.node("Sigmoid", g.conv(merged, 32, PREDICTIONS, 1))
    second = g.node("Sigmoid", g.conv(coarse, 64, PREDICTIONS, 1))
    g.output(first, [1, PREDICTIONS, 16, 16])
    g.output(second, [1, PREDICTIONS, 8, 8])
    return g.model()
