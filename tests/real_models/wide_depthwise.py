"""Networks with depthwise convolutions of 5×5 and 7×7 like MobileNetV3-small, EfficientNet-lite and ConvNeXt."""

from typing import Any

import numpy as np

from tests.real_models.exported_graph import ExportedGraph

SIZE, CLASSES = 64, 10
# Kernel, expanded channels, channels, squeeze and excite, hard swish, stride.
MOBILENETV3 = (
    (3, 16, 16, True, False, 2),
    (3, 72, 24, False, False, 2),
    (3, 88, 24, False, False, 1),
    (5, 96, 40, True, True, 2),
    (5, 240, 40, True, True, 1),
    (5, 120, 48, True, True, 1),
    (5, 288, 96, True, True, 2),
    (5, 576, 96, True, True, 1),
)
# Kernel, expansion, channels, repetitions, stride of the first.
EFFICIENTNET_LITE = ((3, 1, 16, 1, 1), (3, 6, 24, 2, 2), (5, 6, 40, 2, 2), (3, 6, 80, 1, 2))
CONVNEXT_WIDTH, CONVNEXT_BLOCKS = 48, 3


def _relu6(g: ExportedGraph, x: str) -> str:
    return str(g.node("Clip", x, g.constant(np.float32(0)), g.constant(np.float32(6))))


def _squeezed(g: ExportedGraph, x: str, channels: int) -> str:
    """x times what a bottleneck makes of its means."""
    fewer = max(8, channels // 4)
    y = g.node("Relu", g.conv(g.node("GlobalAveragePool", x), channels, fewer, 1))
    return str(g.node("Mul", x, g.node("HardSigmoid", g.conv(y, fewer, channels, 1), alpha=1 / 6)))


def mobilenetv3(exporter: str) -> Any:
    g = ExportedGraph("mobilenetv3", exporter)
    x = str(g.node("HardSwish", g.conv(g.input("input", [1, 3, SIZE, SIZE]), 3, 16, 3, stride=2)))
    channels = 16
    for kernel, wide, filters, squeezes, swishes, stride in MOBILENETV3:
        act = "HardSwish" if swishes else "Relu"
        y = str(g.node(act, g.conv(x, channels, wide, 1))) if wide != channels else x
        y = str(g.node(act, g.conv(y, wide, wide, kernel, stride=stride, groups=wide)))
        y = g.conv(_squeezed(g, y, wide) if squeezes else y, wide, filters, 1)
        x = str(g.node("Add", x, y)) if stride == 1 and channels == filters else y
        channels = filters
    x = str(g.node("HardSwish", g.conv(x, channels, 288, 1)))
    g.output(g.gemm(g.global_pool(x, 288), 288, CLASSES), [1, CLASSES])
    return g.model()


def efficientnet_lite(exporter: str) -> Any:
    g = ExportedGraph("efficientnet_lite", exporter)
    x = _relu6(g, g.conv(g.input("input", [1, 3, SIZE, SIZE]), 3, 32, 3, stride=2))
    channels = 32
    for kernel, expansion, filters, repetitions, first_stride in EFFICIENTNET_LITE:
        for repetition in range(repetitions):
            stride, wide = first_stride if repetition == 0 else 1, channels * expansion
            y = _relu6(g, g.conv(x, channels, wide, 1)) if expansion > 1 else x
            y = g.conv(_relu6(g, g.conv(y, wide, wide, kernel, stride=stride, groups=wide)), wide, filters, 1)
            x = str(g.node("Add", x, y)) if stride == 1 and channels == filters else y
            channels = filters
    x = _relu6(g, g.conv(x, channels, 320, 1))
    g.output(g.gemm(g.global_pool(x, 320), 320, CLASSES), [1, CLASSES])
    return g.model()


def _gelu(g: ExportedGraph, x: str) -> str:
    """x / 2 * (1 + erf(x / sqrt(2))), as both exporters take it apart."""
    error = g.node("Erf", g.node("Div", x, g.constant(np.float32(np.sqrt(2)))))
    doubled = g.node("Mul", x, g.node("Add", error, g.constant(np.float32(1))))
    return str(g.node("Mul", doubled, g.constant(np.float32(0.5))))


def convnext(exporter: str) -> Any:
    width = CONVNEXT_WIDTH
    g = ExportedGraph("convnext", exporter)
    x = g.conv(g.input("input", [1, 3, SIZE, SIZE]), 3, width, 4, stride=4, pads=[0, 0], gain=1)
    for _ in range(CONVNEXT_BLOCKS):
        y = g.transpose(g.conv(x, width, width, 7, groups=width, gain=1), 0, 2, 3, 1)
        y = _gelu(g, g.linear(g.layer_norm(y, width, 1e-6), width, 4 * width))
        scaled = g.node("Mul", g.linear(y, 4 * width, width), g.parameter(g.normal(width, scale=0.2, centre=1)))
        x = str(g.node("Add", x, g.transpose(scaled, 0, 3, 1, 2)))
    g.output(g.gemm(g.global_pool(x, width), width, CLASSES), [1, CLASSES])
    return g.model()
