"""DS-CNN for keyword spotting: 49 frames of 10 coefficients, four depthwise-separable blocks of 64 channels."""

from typing import Any

from tests.real_models.exported_graph import ExportedGraph


def dscnn(exporter: str) -> Any:
    g = ExportedGraph("dscnn", exporter)
    x = g.conv(g.input("input", [1, 1, 49, 10]), 1, 64, (10, 4), stride=2, pads=[5, 1])
    x = g.node("Relu", x)
    for _ in range(4):
        x = g.node("Relu", g.conv(x, 64, 64, 3, groups=64))
        x = g.node("Relu", g.conv(x, 64, 64, 1))
    result = g.gemm(g.global_pool(x, 64), 64, 12)
    g.output(result, [1, 12])
    return g.model()
