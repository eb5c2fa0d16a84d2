"""Builds a network layer by layer: each call appends nodes and runs them on calibration data.

A tensor is a name together with its calibration values, so a layer can choose its requantization from what really
arrives. Values have a batch axis in front where the model has an axis of one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.frontend.windows import same_pads
from tvm_pulp.frontend.zoo import calibration, integer_math
from tvm_pulp.frontend.zoo.calibration import RequantShift
from tvm_pulp.frontend.zoo.onnx_graph import OnnxGraph, number


@dataclass(frozen=True, eq=False)
class CalibratedTensor:
    """A value of the graph: calibration data, largest possible magnitude, real value of one step."""

    name: str
    values: np.ndarray
    bound: int
    step: float = 1.0
    signed: bool = True

    @property
    def dtype(self) -> str:
        """Element type of an eight-bit tensor."""
        return "int8" if self.signed else "uint8"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape in the model, whose batch is one."""
        return (1, *self.values.shape[1:])


class Builder(OnnxGraph):
    """A network under construction."""

    def input(self, name: str, samples: Sequence[np.ndarray]) -> CalibratedTensor:
        """A graph input with its calibration data, one array per sample."""
        dtype = samples[0].dtype.name
        self.declare_input(name, dtype, samples[0].shape)
        signed = dtype == "int8"
        return CalibratedTensor(name, np.concatenate(samples).astype(np.int64), 128 if signed else 255, 1 / 128, signed)

    def output(self, tensor: CalibratedTensor) -> None:
        """Make a tensor a graph output."""
        self.outputs.append(tensor)
        self.declare_output(tensor.name, tensor.dtype, tensor.shape)

    def weights(self, name: str, *shape: int) -> np.ndarray:
        """Normally distributed weights, first axis output channels, each channel scaled to the full integer range."""
        real = self.random(name).normal(*shape)
        largest = np.abs(real).max(axis=tuple(range(1, len(shape))), keepdims=True)
        return np.rint(real * (self._weight_limit / largest)).astype(np.int64)

    def requantize(
        self, name: str, acc: CalibratedTensor, rule: RequantShift, axis: int = -1, step: float = 1.0, levels: int = 256
    ) -> CalibratedTensor:
        """RequantShift; per-channel constants run along `axis` of the data. Without a sign there may be 128 levels."""
        rank = acc.values.ndim
        shape = () if rule.mul.size == 1 else (-1, *[1] * (rank - 1 - axis % rank))
        mul, add = rule.mul.reshape(shape), rule.add.reshape(shape)
        operands = [acc.name, self.constant(f"{name}_mul", mul), self.constant(f"{name}_add", add)]
        stated = {"n_levels_out": number(levels, 1), "signed": number(rule.signed, 1), "div": number(1 << rule.shift)}
        self.node("RequantShift", operands, name, private=True, **stated)
        values = np.minimum(integer_math.requantize(acc.values, mul, add, rule.shift, rule.signed), levels - 1)
        return CalibratedTensor(name, values, 128 if rule.signed else 255, step, rule.signed)

    def rescale(self, name: str, acc: CalibratedTensor, signed: bool = True, headroom: float = 1.0) -> CalibratedTensor:
        """RequantShift with one multiplier that fills the output range."""
        rule = calibration.scale_to_range(acc.values, acc.bound, signed, headroom)
        return self.requantize(name, acc, rule, step=acc.step / (int(rule.mul[0]) * 2.0**-rule.shift))

    def _normalize(self, name: str, acc: CalibratedTensor, relu: bool) -> CalibratedTensor:
        """Batch normalization and activation as one RequantShift per channel (axis 1)."""
        channels = acc.values.shape[1]
        gain = self.random(f"{name}_gain").uniform(0.6, 1.4, channels)
        offset = self.random(f"{name}_offset").uniform(-0.25, 0.5, channels)
        rule, step = calibration.normalize_channels(acc.values, gain, offset, acc.bound, signed=not relu)
        return self.requantize(name, acc, rule, axis=1, step=step)

    def conv(
        self,
        name: str,
        x: CalibratedTensor,
        channels: int,
        kernel: Sequence[int],
        strides: Sequence[int] = (1, 1),
        relu: bool = True,
        depthwise: bool = False,
    ) -> CalibratedTensor:
        """Conv with padding "same", batch normalization and, optionally, ReLU."""
        inputs = x.values.shape[1]
        if depthwise and channels != inputs:
            raise ValueError(f"'{name}': a depthwise layer keeps its {inputs} channels")
        weight = self.weights(f"{name}_weight", channels, 1 if depthwise else inputs, *kernel)
        pads = same_pads(x.values.shape[2:], kernel, strides, (1, 1))
        groups = inputs if depthwise else 1
        operands = [x.name, self.constant(f"{name}_weight", weight)]
        windows: dict[str, Any] = {"kernel_shape": list(kernel), "strides": list(strides), "pads": pads}
        self.node("Conv", operands, f"{name}_acc", group=groups, dilations=[1, 1], **windows)
        values = integer_math.convolve(x.values, weight, strides, pads, groups)
        return self._normalize(name, CalibratedTensor(f"{name}_acc", values, product_bound(x, weight)), relu)

    def dense(self, name: str, x: CalibratedTensor, channels: int, relu: bool = True) -> CalibratedTensor:
        """Gemm with batch normalization and, optionally, ReLU."""
        return self._normalize(name, self._gemm(name, x, channels, centred=False), relu)

    def classifier(self, name: str, x: CalibratedTensor, classes: int) -> CalibratedTensor:
        """Gemm whose bias centres each class on the calibration data, and one multiplier for all classes."""
        # A handful of pictures does not show the largest logit there is.
        return self.rescale(name, self._gemm(name, x, classes, centred=True), headroom=2.0)

    def _gemm(self, name: str, x: CalibratedTensor, channels: int, centred: bool) -> CalibratedTensor:
        weight = self.weights(f"{name}_weight", channels, x.values.shape[1])
        values = integer_math.multiply(x.values, weight.T)
        bias = np.zeros(channels, np.int64)
        if centred:
            bias = calibration.representable(-calibration.mean_and_deviation(values)[0])
        operands = [x.name, self.constant(f"{name}_weight", weight), self.constant(f"{name}_bias", bias)]
        self.node("Gemm", operands, f"{name}_acc", alpha=1.0, beta=1.0, transB=1)
        bound = product_bound(x, weight) + int(np.abs(bias).max())
        return CalibratedTensor(f"{name}_acc", values + bias, bound)

    def residual(self, name: str, a: CalibratedTensor, b: CalibratedTensor, relu: bool = False) -> CalibratedTensor:
        """Sum of two tensors with different steps: both are brought to one step first, as `rq_add` does."""
        if a.shape != b.shape:
            raise ValueError(f"'{name}': {a.shape} and {b.shape} differ")
        # A little room, so that neither operand saturates where calibration saw nothing.
        limit = 1.05 * max(calibration.reach(t.values * t.step, signed=True) for t in (a, b))
        parts = []
        for side, tensor in (("a", a), ("b", b)):
            scale = np.full(1, tensor.step * 127 / limit)
            rule = calibration.fixed_point(scale, np.zeros(1), tensor.bound, signed=True)
            parts.append(self.requantize(f"{name}_{side}", tensor, rule, step=limit / 127))
        return self.rescale(name, self.add(f"{name}_sum", *parts), signed=not relu)

    def add(self, name: str, a: CalibratedTensor, b: CalibratedTensor) -> CalibratedTensor:
        """Plain Add; the result is an accumulator."""
        self.node("Add", [a.name, b.name], name)
        return CalibratedTensor(name, a.values + b.values, a.bound + b.bound, a.step)

    def spatial_mean(self, name: str, x: CalibratedTensor) -> CalibratedTensor:
        """Global average pool: integer ReduceMean over height and width."""
        self.node("ReduceMean", [x.name], name, axes=[2, 3], keepdims=0)
        return CalibratedTensor(name, integer_math.mean(x.values, (2, 3)), x.bound, x.step, x.signed)

    def reshape(self, name: str, x: CalibratedTensor, *shape: int) -> CalibratedTensor:
        """Reshape to a model shape (leading axis one)."""
        if math.prod(shape) != math.prod(x.shape) or shape[0] != 1:
            raise ValueError(f"'{name}': {x.shape} cannot become {shape}")
        self.node("Reshape", [x.name, self.shape(f"{name}_shape", shape)], name)
        return CalibratedTensor(name, x.values.reshape(-1, *shape[1:]), x.bound, x.step, x.signed)

    def transpose(self, name: str, x: CalibratedTensor, *axes: int) -> CalibratedTensor:
        """Transpose that keeps the batch in front."""
        self.node("Transpose", [x.name], name, perm=list(axes))
        return CalibratedTensor(name, x.values.transpose(axes), x.bound, x.step, x.signed)


def product_bound(x: CalibratedTensor, weight: np.ndarray) -> int:
    """Largest accumulator that any input can cause; output channels are the first axis."""
    return int(np.abs(weight).reshape(weight.shape[0], -1).sum(axis=1).max()) * x.bound
