"""Networks of torchvision and timm with dense and grouped convolutions, their sizes drawn from a seed."""

from typing import Any

import numpy as np

from tests.hub.feature_map import FeatureMap, picture
from tests.real_models.exported_graph import ExportedGraph

Draw = np.random.Generator


def _block(x: FeatureMap, filters: int, stride: int = 1, groups: int = 1, inner: int = 0) -> FeatureMap:
    """Basic, or a bottleneck with `inner` channels, perhaps in groups."""
    if inner:
        y = x.conv(inner, 1).conv(inner, 3, stride=stride, groups=groups).conv(filters, 1, "")
    else:
        y = x.conv(filters, 3, stride=stride).conv(filters, 3, "")
    straight = x if stride == 1 and x.channels == filters else x.conv(filters, 1, "", stride=stride, pads=[0, 0])
    return straight.plus(y, "Relu")


def resnet(g: ExportedGraph, draw: Draw) -> Any:
    width = int(draw.choice([8, 16, 20]))
    x = picture(g, 3, 64, 64).conv(width, 7, stride=2, pads=[3, 3]).pooled(kernel=3, pad=1)
    for factor, stride in ((1, 1), (2, 2), (4, 2), (8, 2)):
        x = _block(x, width * factor, stride)
    return x.classified()


def bottleneck_resnet(g: ExportedGraph, draw: Draw) -> Any:
    width = int(draw.choice([8, 16, 24]))
    x = picture(g, 3, 48, 48).conv(width, 7, stride=2, pads=[3, 3]).pooled(kernel=3, pad=1)
    for factor, stride in ((4, 1), (8, 2), (8, 1), (16, 2)):
        x = _block(x, width * factor, stride, inner=width * factor // 4)
    return x.classified()


def resnext(g: ExportedGraph, draw: Draw) -> Any:
    """Groups of four and eight channels."""
    width, each = int(draw.choice([16, 32])), int(draw.choice([4, 8]))
    x = picture(g, 3, 48, 48).conv(width, 3, stride=2)
    for factor, stride in ((2, 1), (4, 2), (4, 1), (8, 2)):
        inner = width * factor // 2
        x = _block(x, width * factor, stride, inner // each, inner)
    return x.classified()


def regnet(g: ExportedGraph, draw: Draw) -> Any:
    each = int(draw.choice([8, 16, 24]))
    x = picture(g, 3, 48, 48).conv(16, 3, stride=2)
    for groups in (1, 2, 4, 5):
        x = _block(x, each * groups, 2 if groups < 5 else 1, groups, each * groups)
    return x.classified()


def shufflenetv2(g: ExportedGraph, draw: Draw) -> Any:
    width = int(draw.choice([16, 24, 36]))
    x = picture(g, 3, 64, 64).conv(width, 3, stride=2).pooled(kernel=3, pad=1)
    for factor in (2, 4):
        left = x.depthwise(3, "", stride=2).conv(width * factor // 2, 1)
        right = x.conv(width * factor // 2, 1).depthwise(3, "", stride=2).conv(width * factor // 2, 1)
        x = left.beside(right).shuffled(2)
        for _ in range(2):
            kept, changed = x.halves()
            changed = changed.conv(changed.channels, 1).depthwise(3, "").conv(changed.channels, 1)
            x = kept.beside(changed).shuffled(2)
    return x.conv(width * 8, 1).classified()


def shufflenetv1(g: ExportedGraph, draw: Draw) -> Any:
    """Grouped 1x1 convolutions."""
    groups, width = int(draw.choice([2, 3, 4])), 48
    x = picture(g, 3, 48, 48).conv(width, 3, stride=2).pooled(kernel=3, pad=1)
    for _ in range(3):
        y = x.conv(width, 1, groups=groups).shuffled(groups).depthwise(3, "").conv(width, 1, "", groups=groups)
        x = x.plus(y, "Relu")
    return x.conv(128, 1).classified()


def densenet(g: ExportedGraph, draw: Draw) -> Any:
    growth = int(draw.choice([8, 12, 16]))
    x = picture(g, 3, 32, 32).conv(2 * growth, 3)
    for last in (False, False, True):
        for _ in range(3):
            x = x.beside(x.conv(4 * growth, 1).conv(growth, 3))
        x = x if last else x.conv(x.channels // 2, 1).pooled("AveragePool")
    return x.classified()


def squeezenet(g: ExportedGraph, draw: Draw) -> Any:
    width = int(draw.choice([8, 16]))
    x = picture(g, 3, 64, 64).conv(4 * width, 3, stride=2).pooled(kernel=3, pad=1)
    for factor in (1, 1, 2, 2):
        few = x.conv(width * factor, 1)
        x = few.conv(4 * width * factor, 1).beside(few.conv(4 * width * factor, 3))
        x = x.pooled(kernel=3, pad=1) if factor == 1 else x
    return x.conv(10, 1).classified()


def googlenet(g: ExportedGraph, draw: Draw) -> Any:
    width = int(draw.choice([8, 16]))
    x = picture(g, 3, 48, 48).conv(2 * width, 7, stride=2, pads=[3, 3]).pooled(kernel=3, pad=1)
    for _ in range(2):
        parts = [x.conv(width, 1), x.conv(width, 1).conv(2 * width, 3), x.conv(width // 2, 1).conv(width, 5)]
        parts.append(x.pooled(kernel=3, stride=1, pad=1).conv(width, 1))
        x = parts[0].beside(*parts[1:])
    return x.classified()


def inception(g: ExportedGraph, draw: Draw) -> Any:
    """Windows of 1x7 and 7x1."""
    width = int(draw.choice([16, 24]))
    x = picture(g, 3, 40, 40).conv(width, 3, stride=2).conv(2 * width, 3)
    for _ in range(2):
        long = x.conv(width, 1).conv(width, [1, 7]).conv(width, [7, 1])
        pooled = x.pooled("AveragePool", kernel=3, stride=1, pad=1).conv(width, 1)
        x = x.conv(width, 1).beside(long, pooled)
    return x.classified()


def vgg(g: ExportedGraph, draw: Draw, size: int = 48) -> Any:
    width = int(draw.choice([8, 16, 24]))
    x = picture(g, 3, size, size)
    for factor in (1, 2, 4):
        x = x.conv(width * factor, 3).conv(width * factor, 3).pooled()
    flat = g.node("Relu", g.gemm(g.node("Flatten", x.value, axis=1), width * 4 * (size // 8) ** 2, 64))
    g.output(g.gemm(flat, 64, 10), [1, 10])
    return g.model()


def repvgg(g: ExportedGraph, draw: Draw) -> Any:
    """As it is deployed: 3x3 convolutions only."""
    x = picture(g, 3, 64, 64)
    for width in (16, 32, 32, 64, 64, int(draw.choice([80, 128]))):
        x = x.conv(width, 3, stride=2 if width != x.channels else 1)
    return x.classified()


def xception(g: ExportedGraph, draw: Draw) -> Any:
    """Depthwise windows with several outputs of a channel, and dilated ones."""
    width = int(draw.choice([12, 16]))
    x = picture(g, 3, 48, 48).conv(width, 3, stride=2).depthwise(3, multiplier=2).conv(4 * width, 1)
    for dilation in (1, 2, 4):
        y = x.depthwise(3, "", dilation=dilation).conv(x.channels, 1).depthwise(3, "", dilation=dilation)
        x = x.plus(y.conv(x.channels, 1, ""), "Relu")
    return x.classified()
