"""Pictures, volumes and sequences of a graph under construction, with their sizes and the layers of many networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.real_models.exported_graph import ExportedGraph


@dataclass(frozen=True)
class FeatureMap:
    """A value of channels and pixels."""

    graph: ExportedGraph
    value: str
    channels: int
    size: tuple[int, ...]

    def conv(self, filters: int, kernel: int | Sequence[int] = 3, act: str = "Relu", **settings: Any) -> "FeatureMap":
        """A convolution and its activation; `up`: a transposed one, `output_padding` as ONNX has it."""
        rank = len(self.size)
        window = [kernel] * rank if isinstance(kernel, int) else list(kernel)
        stride, dilation = settings.get("stride", 1), settings.get("dilation", 1)
        up = settings.pop("up", False)
        pads = settings.setdefault("pads", [(k - stride) // 2 if up else dilation * (k // 2) for k in window])
        moves = [stride] * rank if isinstance(stride, int) else list(stride)
        if up:
            settings["op"] = "ConvTranspose"
            size = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(self.size, moves, pads, window, strict=True)]
        else:
            reach = [dilation * (k - 1) + 1 for k in window]
            size = [(n + 2 * p - r) // s + 1 for n, p, r, s in zip(self.size, pads, reach, moves, strict=True)]
        made = self.graph.conv(self.value, self.channels, filters, window, rank=rank, **settings)
        return FeatureMap(self.graph, made, filters, tuple(size)).activated(act)

    def depthwise(
        self, kernel: int | Sequence[int], act: str = "Relu", multiplier: int = 1, **more: Any
    ) -> "FeatureMap":
        return self.conv(self.channels * multiplier, kernel, act, groups=self.channels, **more)

    def activated(self, act: str) -> "FeatureMap":
        """`act`: an operator's name, Relu6, SiLU, GELU, or nothing."""
        g, x = self.graph, self.value
        if act == "Relu6":
            x = g.node("Clip", x, g.constant(np.float32(0)), g.constant(np.float32(6)))
        elif act == "SiLU":
            x = g.node("Mul", x, g.node("Sigmoid", x))
        elif act == "GELU":
            error = g.node("Erf", g.node("Div", x, g.constant(np.float32(np.sqrt(2)))))
            doubled = g.node("Mul", x, g.node("Add", error, g.constant(np.float32(1))))
            x = g.node("Mul", doubled, g.constant(np.float32(0.5)))
        elif act:
            x = g.node(act, x)
        return FeatureMap(g, x, self.channels, self.size)

    def plus(self, other: "FeatureMap", act: str = "") -> "FeatureMap":
        summed = self.graph.node("Add", self.value, other.value)
        return FeatureMap(self.graph, summed, self.channels, self.size).activated(act)

    def beside(self, *others: "FeatureMap") -> "FeatureMap":
        """Channels of all, one after the other."""
        every = (self, *others)
        joined = self.graph.node("Concat", *(m.value for m in every), axis=1)
        return FeatureMap(self.graph, joined, sum(m.channels for m in every), self.size)

    def halves(self) -> tuple["FeatureMap", "FeatureMap"]:
        """The first and the second half of the channels."""
        half = self.channels // 2
        cuts = (self.graph.slice(self.value, 1, 0, half), self.graph.slice(self.value, 1, half))
        first, second = (FeatureMap(self.graph, cut, half, self.size) for cut in cuts)
        return first, second

    def pooled(self, kind: str = "MaxPool", kernel: int = 2, stride: int = 2, pad: int = 0) -> "FeatureMap":
        rank = len(self.size)
        window: dict[str, Any] = {"kernel_shape": [kernel] * rank, "strides": [stride] * rank, "pads": [pad] * 2 * rank}
        size = tuple((n + 2 * pad - kernel) // stride + 1 for n in self.size)
        return FeatureMap(self.graph, self.graph.node(kind, self.value, **window), self.channels, size)

    def upsampled(self) -> "FeatureMap":
        """Twice as large, nearest neighbours."""
        scales = self.graph.constant([1, 1, *[2] * len(self.size)])
        mode = {"coordinate_transformation_mode": "asymmetric", "mode": "nearest", "nearest_mode": "floor"}
        bigger = self.graph.node("Resize", self.value, "", scales, **mode)
        return FeatureMap(self.graph, bigger, self.channels, tuple(2 * n for n in self.size))

    def squeezed(self, ratio: int = 4, gate: str = "HardSigmoid") -> "FeatureMap":
        """Squeeze and excite: each channel times what a bottleneck makes of the means."""
        g, fewer = self.graph, max(8, self.channels // ratio)
        mean = FeatureMap(g, g.node("GlobalAveragePool", self.value), self.channels, (1,) * len(self.size))
        wide = mean.conv(fewer, 1).conv(self.channels, 1, "")
        opened = g.node(gate, wide.value, **({"alpha": 1 / 6} if gate == "HardSigmoid" else {}))
        return FeatureMap(g, g.node("Mul", self.value, opened), self.channels, self.size)

    def shuffled(self, groups: int) -> "FeatureMap":
        """Channels of all groups in turn."""
        g, each = self.graph, self.channels // groups
        apart = g.reshape(self.value, 1, groups, each, *self.size)
        turned = g.transpose(apart, 0, 2, 1, *range(3, 3 + len(self.size)))
        return FeatureMap(g, g.reshape(turned, 1, self.channels, *self.size), self.channels, self.size)

    def result(self) -> Any:
        """The network that ends here."""
        self.graph.output(self.value, [1, self.channels, *self.size])
        return self.graph.model()

    def classified(self, classes: int = 10) -> Any:
        """The network that ends in means and a matrix."""
        g, axes = self.graph, list(range(-1, -1 - len(self.size), -1))
        if g.legacy:
            flat = g.node("Flatten", g.node("GlobalAveragePool", self.value), axis=1)
        else:
            mean = g.node("ReduceMean", self.value, g.integers(*axes), keepdims=1, noop_with_empty_axes=0)
            flat = g.reshape(mean, 1, self.channels)
        g.output(g.gemm(flat, self.channels, classes), [1, classes])
        return g.model()


def picture(g: ExportedGraph, channels: int, *size: int) -> FeatureMap:
    """The network's input."""
    return FeatureMap(g, g.input("input", [1, channels, *size]), channels, size)
