"""Builds the float twin of a classifier of the zoo: the same layers with real weights, as an exporter writes them.

It has the methods of `Builder` that convolutional networks call. Batch normalization is folded into the convolutions;
its constants are chosen from what arrives on labelled data. The last layer is fitted to the labels, so that the twin
tells classes apart; layers before it are random, and most of their ReLUs let most values pass: a deep random network
whose ReLUs do not is chaotic, and makes of every last digit another answer, as no trained network does.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from tvm_pulp.frontend.windows import same_pads
from tvm_pulp.frontend.zoo.integer_math import convolve_as
from tvm_pulp.frontend.zoo.onnx_graph import GraphWriter
from tvm_pulp.frontend.zoo.qdq_builder import QdqValue

_RIDGE = 1e-1


class FloatBuilder(GraphWriter):
    """A network under construction."""

    def __init__(self, name: str, seed: int, labels: np.ndarray) -> None:
        super().__init__(name, seed)
        self._labels = labels

    def input(self, name: str, samples: Sequence[np.ndarray]) -> QdqValue:
        self.declare_input(name, "float32", samples[0].shape)
        return QdqValue(name, np.concatenate(samples).astype(np.float64))

    def output(self, value: QdqValue) -> None:
        self.declare_output(value.name, "float32", [1, *value.values.shape[1:]])

    def model(self) -> Any:
        """The finished model."""
        made = super().model()
        onnx.checker.check_model(made)
        return made

    def conv(
        self,
        name: str,
        x: QdqValue,
        channels: int,
        kernel: Sequence[int],
        strides: Sequence[int] = (1, 1),
        relu: bool = True,
        depthwise: bool = False,
    ) -> QdqValue:
        """Conv with padding "same" and folded batch normalization; optionally ReLU."""
        inputs = x.values.shape[1]
        weight = self.random(f"{name}_weight").normal(channels, 1 if depthwise else inputs, *kernel)
        pads, groups = same_pads(x.values.shape[2:], kernel, strides, (1, 1)), inputs if depthwise else 1
        values = convolve_as(np.float64, x.values, weight, strides, pads, groups)
        slope, bias = self._normalization(name, values)
        weight = weight * slope.reshape(-1, 1, 1, 1)
        operands = [x.name, self.constant(f"{name}_weight", weight), self.constant(f"{name}_bias", bias)]
        windows: dict[str, Any] = {"kernel_shape": list(kernel), "strides": list(strides), "pads": pads}
        linear = f"{name}_linear" if relu else name
        self.node("Conv", operands, linear, group=groups, **windows)
        along = (1, -1, 1, 1)
        return self._activated(name, QdqValue(linear, values * slope.reshape(along) + bias.reshape(along)), relu)

    def classifier(self, name: str, x: QdqValue, classes: int) -> QdqValue:
        """Gemm that tells the classes apart: ridge regression of the labels."""
        mean, wanted = x.values.mean(axis=0), np.where(np.arange(classes) == self._labels[:, None], 1.0, 0.0)
        centred = x.values - mean
        scatter = centred.T @ centred
        ridge = _RIDGE * np.trace(scatter) / len(mean) * np.eye(len(mean))
        weight = np.linalg.solve(scatter + ridge, centred.T @ (wanted - wanted.mean(axis=0))).T
        bias = wanted.mean(axis=0) - weight @ mean
        operands = [x.name, self.constant(f"{name}_weight", weight), self.constant(f"{name}_bias", bias)]
        return QdqValue(self.node("Gemm", operands, name, transB=1), x.values @ weight.T + bias)

    def residual(self, name: str, a: QdqValue, b: QdqValue, relu: bool = False) -> QdqValue:
        linear = f"{name}_linear" if relu else name
        self.node("Add", [a.name, b.name], linear)
        return self._activated(name, QdqValue(linear, a.values + b.values), relu)

    def spatial_mean(self, name: str, x: QdqValue) -> QdqValue:
        """Global average pool."""
        self.node("GlobalAveragePool", [x.name], f"{name}_kept")
        self.node("Flatten", [f"{name}_kept"], name)
        return QdqValue(name, x.values.mean(axis=(2, 3)))

    def _normalization(self, name: str, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope and bias per channel that the calibration data gets zero mean and unit deviation by, then some."""
        axes = tuple(a for a in range(values.ndim) if a != 1)
        channels = values.shape[1]
        gain = self.random(f"{name}_gain").uniform(0.6, 1.4, channels)
        offset = self.random(f"{name}_offset").uniform(0.5, 2.0, channels)
        slope = gain / np.maximum(values.std(axis=axes), 1e-6)
        return slope, offset - values.mean(axis=axes) * slope

    def _activated(self, name: str, value: QdqValue, relu: bool) -> QdqValue:
        if not relu:
            return value
        return QdqValue(self.node("Relu", [value.name], name), np.maximum(value.values, 0))

    def constant(self, name: str, values: np.ndarray) -> str:
        """Store numbers in single precision."""
        return super().constant(name, values.astype(np.float32))
