"""MobileNetV2, width 1.0, for images of 96×96."""

from typing import Any

import numpy as np

from tests.real_models.exported_graph import ExportedGraph

# Expansion, channels, repetitions, stride of the first.
Blocks = tuple[tuple[int, int, int, int], ...]
BLOCKS: Blocks = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
CLASSES = 1000


def _relu6(g: ExportedGraph, x: str) -> str:
    return str(g.node("Clip", x, g.constant(np.float32(0)), g.constant(np.float32(6))))


# Fewer blocks: 46 layers of the compiler, whose time `scripts/bench compile` measures.
SHORT = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 2, 2), (6, 64, 3, 2), (6, 96, 2, 1), (6, 160, 1, 2), (6, 320, 1, 1))


def mobilenetv2(exporter: str, blocks: Blocks = BLOCKS) -> Any:
    g = ExportedGraph("mobilenetv2", exporter)
    x = _relu6(g, g.conv(g.input("input", [1, 3, 96, 96]), 3, 32, 3, stride=2))
    channels, summed = 32, 1
    for expansion, filters, repetitions, first_stride in blocks:
        for repetition in range(repetitions):
            stride = first_stride if repetition == 0 else 1
            wide = channels * expansion
            # What enters a block was not cut off, and is a sum of as many results as blocks added theirs.
            y = _relu6(g, g.conv(x, channels, wide, 1, gain=1 / np.sqrt(summed))) if expansion > 1 else x
            y = _relu6(g, g.conv(y, wide, wide, 3, stride=stride, groups=wide))
            y = g.conv(y, wide, filters, 1)
            adds = stride == 1 and channels == filters
            x = str(g.node("Add", x, y)) if adds else y
            channels, summed = filters, summed + 1 if adds else 1
    x = _relu6(g, g.conv(x, channels, 1280, 1, gain=1 / np.sqrt(summed)))
    result = g.gemm(g.global_pool(x, 1280), 1280, CLASSES)
    g.output(result, [1, CLASSES])
    return g.model()
