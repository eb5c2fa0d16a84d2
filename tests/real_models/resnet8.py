"""ResNet-8 for CIFAR: three residual blocks of 16, 32 and 64 channels."""

from typing import Any

from tests.real_models.exported_graph import ExportedGraph


def resnet8(exporter: str) -> Any:
    g = ExportedGraph("resnet8", exporter)
    x = g.node("Relu", g.conv(g.input("input", [1, 3, 32, 32]), 3, 16, 3))
    channels = 16
    for filters, stride in ((16, 1), (32, 2), (64, 2)):
        branch = g.node("Relu", g.conv(x, channels, filters, 3, stride=stride))
        branch = g.conv(branch, filters, filters, 3)
        if filters != channels:
            x = g.conv(x, channels, filters, 1, stride=stride)
        x = g.node("Relu", g.node("Add", branch, x))
        channels = filters
    result = g.gemm(g.global_pool(x, 64), 64, 10)
    g.output(result, [1, 10])
    return g.model()
