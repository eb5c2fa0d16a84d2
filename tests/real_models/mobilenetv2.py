"""MobileNetV2, width 1.0, for images of 96×96."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.real_models.exported_graph import ExportedGraph

# Expansion, channels, repetitions, stride of the first.
BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
CLASSES = 1000


def _relu6(g: ExportedGraph, x: str) -> str:
    return str(g.node("Clip", x, g.constant(np.float32(0)), g.constant(np.float32(6))))


def mobilenetv2(exporter: str) -> Any:
    g = ExportedGraph("mobilenetv2", exporter)
    x = _relu6(g, g.conv(g.input("input", [1, 3, 96, 96]), 3, 32, 3, stride=2))
    channels = 32
    for expansion, filters, repetitions, first_stride in BLOCKS:
        for repetition in range(repetitions):
            stride = first_stride if repetition == 0 else 1
            wide = channels * expansion
            y = _relu6(g, g.conv(x, channels, wide, 1)) if expansion > 1 else x
            y = _relu6(g, g.conv(y, wide, wide, 3, stride=stride, groups=wide))
            y = g.conv(y, wide, filters, 1)
            x = str(g.node("Add", x, y)) if stride == 1 and channels == filters else y
            channels = filters
    x = _relu6(g, g.conv(x, channels, 1280, 1))
    result = g.gemm(g.global_pool(x, 1280), 1280, CLASSES)
    g.output(result, [1, CLASSES])
    return g.model()
