"""Detectors, segmentation, generators and volumes, their sizes drawn from a seed."""

from typing import Any

import numpy as np

from tests.hub.feature_map import FeatureMap, picture
from tests.real_models.exported_graph import ExportedGraph

Draw = np.random.Generator


def yolo(g: ExportedGraph, draw: Draw) -> Any:
    """SiLU, CSP halves, SPPF, two heads."""
    width, size = int(draw.choice([8, 12, 16])), int(draw.choice([64, 96]))
    x = picture(g, 3, size, size).conv(width, 3, "SiLU", stride=2)
    levels = []
    for factor in (2, 4, 8):
        x = x.conv(width * factor, 3, "SiLU", stride=2)
        left, right = x.conv(width * factor, 1, "SiLU").halves()
        right = right.plus(right.conv(right.channels, 3, "SiLU").conv(right.channels, 3, "SiLU"))
        x = left.beside(right).conv(width * factor, 1, "SiLU")
        levels.append(x)
    few = x.conv(x.channels // 2, 1, "SiLU")
    once = few.pooled(kernel=5, stride=1, pad=2)
    twice = once.pooled(kernel=5, stride=1, pad=2)
    x = few.beside(once, twice, twice.pooled(kernel=5, stride=1, pad=2)).conv(width * 4, 1, "SiLU")
    fine = x.upsampled().beside(levels[1]).conv(width * 4, 3, "SiLU")
    for head in (fine.conv(18, 1, "Sigmoid"), x.conv(18, 1, "Sigmoid")):
        g.output(head.value, [1, 18, *head.size])
    return g.model()


def unet(g: ExportedGraph, draw: Draw) -> Any:
    """Up by transposed convolutions of 2x2."""
    width = int(draw.choice([8, 12, 16]))
    top = picture(g, 3, 48, 48).conv(width, 3)
    middle = top.pooled().conv(2 * width, 3)
    low = middle.pooled().conv(4 * width, 3).conv(4 * width, 3)
    x = low.conv(2 * width, 2, "", stride=2, up=True).beside(middle).conv(2 * width, 3)
    return x.conv(width, 2, "", stride=2, up=True).beside(top).conv(width, 3).conv(2, 1, "").result()


def deeplab(g: ExportedGraph, draw: Draw) -> Any:
    """Dilated windows side by side."""
    width = int(draw.choice([16, 24, 32]))
    x = picture(g, 3, 64, 64).conv(width, 3, stride=2).conv(width, 3, stride=2).conv(2 * width, 3)
    spread = [x.conv(width, 3, dilation=rate) for rate in (2, 4, 6)]
    x = x.conv(width, 1).beside(*spread).conv(width, 1)
    return x.upsampled().conv(4, 1, "").result()


def generator(g: ExportedGraph, draw: Draw) -> Any:
    """Transposed convolutions of strides 2, 3 and 4 and windows that are no multiple of them."""
    width, strides = int(draw.choice([16, 24])), draw.permutation([2, 3, 4])[:2]
    x = picture(g, 4 * width, 4, 4)
    for stride in map(int, strides):
        kernel = stride + 2 * int(draw.integers(0, 2))
        x = x.conv(x.channels // 2, kernel, stride=stride, up=True)
    return x.conv(3, 3, "Tanh").result()


def super_resolution(g: ExportedGraph, draw: Draw) -> Any:
    """Channels become pixels at the end."""
    width = int(draw.choice([16, 32]))
    x = picture(g, 1, 32, 32).conv(width, 5, "Tanh").conv(width, 3, "Relu").conv(4, 3, "")
    bigger = g.node("DepthToSpace", x.value, blocksize=2, mode="CRD")
    return FeatureMap(g, bigger, 1, (64, 64)).result()


def hourglass(g: ExportedGraph, draw: Draw) -> Any:
    """Key points: down, up by neighbours, sums of both."""
    width = int(draw.choice([16, 32]))
    top = picture(g, 3, 48, 48).conv(width, 3, stride=2)
    low = top.pooled().conv(2 * width, 3).conv(2 * width, 3).conv(width, 1)
    return top.conv(width, 3).plus(low.upsampled(), "Relu").conv(17, 1, "").result()


def volumes(g: ExportedGraph, draw: Draw) -> Any:
    """Convolutions along three axes, as R3D and R(2+1)D have them."""
    width, apart = int(draw.choice([8, 16])), bool(draw.integers(0, 2))
    x = picture(g, 3, 8, 24, 24).conv(width, [3, 5, 5], stride=[1, 2, 2], pads=[1, 2, 2])
    for filters in (width, 2 * width):
        stride = 2 if filters != x.channels else 1
        if apart:
            y = x.conv(filters, [1, 3, 3], stride=[1, stride, stride], pads=[0, 1, 1])
            y = y.conv(filters, [3, 1, 1], "", stride=[stride, 1, 1], pads=[1, 0, 0])
        else:
            y = x.conv(filters, 3, "", stride=stride)
        straight = x if stride == 1 else x.conv(filters, 1, "", stride=2, pads=[0, 0, 0])
        x = straight.plus(y, "Relu")
    return x.classified()
