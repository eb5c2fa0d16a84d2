"""Networks of inverted residuals and wide depthwise windows, their sizes drawn from a seed."""

from typing import Any

import numpy as np

from tests.hub.feature_map import FeatureMap, picture
from tests.real_models.exported_graph import ExportedGraph

Draw = np.random.Generator


def _inverted(x: FeatureMap, wide: int, filters: int, kernel: int, act: str, **more: Any) -> FeatureMap:
    """Expand, depthwise, squeeze and excite where a gate is given, project."""
    stride, gate = more.get("stride", 1), more.get("gate", "")
    y = x.conv(wide, 1, act) if wide != x.channels else x
    y = y.depthwise(kernel, act, stride=stride)
    y = (y.squeezed(4, gate) if gate else y).conv(filters, 1, "")
    return x.plus(y) if stride == 1 and x.channels == filters else y


def mobilenetv3(g: ExportedGraph, draw: Draw) -> Any:
    width = int(draw.choice([8, 12, 16]))
    size = int(draw.choice([48, 64]))
    x = picture(g, 3, size, size).conv(width, 3, "HardSwish", stride=2)
    for kernel, factor, stride in ((3, 1, 2), (3, 2, 2), (5, 3, 2), (5, 3, 1), (5, 4, 2), (5, 4, 1)):
        act, gate = ("Relu", "") if kernel == 3 else ("HardSwish", "HardSigmoid")
        wide = int(draw.choice([3, 4, 6])) * x.channels
        x = _inverted(x, wide, width * factor, kernel, act, stride=stride, gate=gate)
    return x.conv(width * 16, 1, "HardSwish").classified()


def efficientnet_lite(g: ExportedGraph, draw: Draw) -> Any:
    width, size = int(draw.choice([16, 24, 32])), int(draw.choice([48, 64]))
    x = picture(g, 3, size, size).conv(width, 3, "Relu6", stride=2)
    x = _inverted(x, width, width // 2, 3, "Relu6")
    for kernel, factor, stride in ((3, 0.75, 2), (5, 1.25, 2), (5, 1.25, 1), (3, 2.5, 2)):
        wide = int(draw.choice([4, 6])) * x.channels
        x = _inverted(x, wide, int(width * factor), kernel, "Relu6", stride=stride)
    return x.conv(width * 8, 1, "Relu6").classified()


def efficientnet(g: ExportedGraph, draw: Draw) -> Any:
    """With SiLU and sigmoid gates."""
    width = int(draw.choice([12, 16]))
    x = picture(g, 3, 48, 48).conv(width, 3, "SiLU", stride=2)
    for kernel, factor, stride in ((3, 1, 1), (3, 1.5, 2), (5, 2, 2), (5, 2, 1)):
        x = _inverted(x, 4 * x.channels, int(width * factor), kernel, "SiLU", stride=stride, gate="Sigmoid")
    return x.conv(width * 8, 1, "SiLU").classified()


def mobilenetv2(g: ExportedGraph, draw: Draw) -> Any:
    width = int(draw.choice([8, 12, 20]))
    x = picture(g, 3, 64, 64).conv(2 * width, 3, "Relu6", stride=2)
    x = _inverted(x, 2 * width, width, 3, "Relu6")
    for factor, stride in ((1.5, 2), (1.5, 1), (2, 2), (2, 1), (4, 2)):
        x = _inverted(x, 6 * x.channels, int(width * factor), 3, "Relu6", stride=stride)
    return x.conv(width * 16, 1, "Relu6").classified()


def mnasnet(g: ExportedGraph, draw: Draw) -> Any:
    width = int(draw.choice([8, 16]))
    x = picture(g, 3, 56, 56).conv(2 * width, 3, stride=2).depthwise(3).conv(width, 1, "")
    for kernel, expansion, stride in ((3, 3, 2), (5, 3, 2), (5, 6, 1), (3, 6, 2)):
        x = _inverted(x, expansion * x.channels, width * 2, kernel, "Relu", stride=stride)
    return x.conv(width * 16, 1).classified()


def mixnet(g: ExportedGraph, draw: Draw) -> Any:
    """Depthwise windows of 3, 5, 7 and 9 side by side."""
    width = int(draw.choice([8, 16]))
    x = picture(g, 3, 40, 40).conv(4 * width, 3, stride=2)
    for _ in range(2):
        first, second = x.conv(4 * width, 1).halves()
        parts = [part for half in (first, second) for part in half.halves()]
        mixed = [part.depthwise(kernel) for part, kernel in zip(parts, (3, 5, 7, 9), strict=True)]
        x = x.plus(mixed[0].beside(*mixed[1:]).conv(x.channels, 1, ""))
    return x.classified()


def ghostnet(g: ExportedGraph, draw: Draw) -> Any:
    """Half of the channels by convolution, the other half by depthwise windows of the first."""
    width = int(draw.choice([8, 16, 24]))
    x = picture(g, 3, 48, 48).conv(2 * width, 3, stride=2)
    for stride, factor in ((2, 2), (1, 2), (2, 4), (1, 4)):
        few = x.conv(width * factor // 2, 1)
        y = few.beside(few.depthwise(3))
        y = y.depthwise(3, "", stride=2) if stride == 2 else y
        few = y.conv(width * factor // 2, 1, "")
        y = few.beside(few.depthwise(3, ""))
        x = x.plus(y) if stride == 1 and x.channels == y.channels else y
    return x.conv(width * 8, 1).classified()


def convnext(g: ExportedGraph, draw: Draw) -> Any:
    """Windows of 7x7, LayerNorm and GELU on channels last."""
    width, size = int(draw.choice([24, 32, 40, 48])), int(draw.choice([32, 48, 64]))
    x = picture(g, 3, size, size).conv(width, 4, "", stride=4, pads=[0, 0], gain=1)
    for _ in range(int(draw.integers(2, 4))):
        y = g.transpose(x.depthwise(7, "", gain=1).value, 0, 2, 3, 1)
        y = g.linear(g.layer_norm(y, width, 1e-6), width, 4 * width)
        y = g.linear(FeatureMap(g, y, width, x.size).activated("GELU").value, 4 * width, width)
        scaled = g.node("Mul", y, g.parameter(g.normal(width, scale=0.2, centre=1)))
        x = x.plus(FeatureMap(g, g.transpose(scaled, 0, 3, 1, 2), width, x.size))
    return x.classified()
