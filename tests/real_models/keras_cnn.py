"""Keras CNNs as TFLite's converter writes them after full integer quantization with float ends.

The plain one: QUANTIZE, three convolutions of 3x3 with RELU and MAX_POOL_2D between them, RESHAPE, FULLY_CONNECTED,
SOFTMAX, DEQUANTIZE: 1.5 M MAC.
"""

from pathlib import Path

import numpy as np

from tests.frontend.single_tflite import Operation, Tensor, options_of, write_graph

SIZE, WIDTHS, CLASSES = 28, (16, 32, 32), 10


def images(seed: int, count: int = 1, size: tuple[int, int] = (SIZE, 1)) -> np.ndarray:
    """Smooth pictures between 0 and 1, of a height and a number of channels."""
    rng = np.random.default_rng([5, seed])
    coarse = rng.uniform(size=(count, size[0] // 4, size[0] // 4, size[1])).repeat(4, axis=1).repeat(4, axis=2)
    return np.asarray(np.clip(coarse + rng.normal(size=coarse.shape) * 0.1, 0, 1).astype(np.float32))


def _windows(x: np.ndarray, kernel: int, stride: int) -> np.ndarray:
    """Windows [n, h, w, channels, y, x] of a picture that is filled up as TFLite's SAME does."""
    missing = max(kernel - (stride if x.shape[1] % stride == 0 else x.shape[1] % stride), 0)
    sides = (missing // 2, missing - missing // 2)
    filled = np.pad(x, ((0, 0), sides, sides, (0, 0)))
    return np.lib.stride_tricks.sliding_window_view(filled, (kernel, kernel), (1, 2))[:, ::stride, ::stride]


def _scale_and_zero(values: np.ndarray) -> dict[str, float | int]:
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = (high - low) / 255
    return {"scale": scale, "zero_point": round(-128 - low / scale)}


class KerasGraph:
    """Layers one after the other with random weights; ranges of activations from what they make of some pictures."""

    def __init__(self, real: np.ndarray) -> None:
        self.real, self._rng = real, np.random.default_rng(11)
        shape = (1, *real.shape[1:])
        self._tensors = [Tensor(shape, "float32"), Tensor(shape, **_scale_and_zero(real))]
        self._operations = [Operation("QUANTIZE", [0], [1], version=1)]

    @property
    def channels(self) -> int:
        return int(self.real.shape[-1])

    def _layer(self, op: str, weight: np.ndarray, options: object, axis: int | None) -> None:
        """A layer with weights, whose result is known; scales belong to the entries of an axis, or all have one."""
        axes = tuple(a for a in range(weight.ndim) if a != axis)
        largest = np.abs(weight).max(axis=axes) if axis is not None else np.abs(weight).max().reshape(1)
        scales = np.maximum(largest, 1e-9) / 127
        spread = scales if axis == weight.ndim - 1 else scales.reshape(-1, *[1] * (weight.ndim - 1))
        integers = np.clip(np.rint(weight / spread), -127, 127).astype(np.int8)
        before = len(self._tensors) - 1
        unit = np.float32(self._tensors[before].scale) * scales.astype(np.float32)
        bias = np.rint(self._rng.normal(size=self.channels) * 0.05 / unit).astype(np.int32)
        self._tensors.extend(
            [
                Tensor(weight.shape, "int8", scales.tolist(), 0, integers, axis or 0),
                Tensor(bias.shape, "int32", unit.tolist(), 0, bias),
                Tensor((1, *self.real.shape[1:]), **_scale_and_zero(self.real)),
            ]
        )
        places = [before, before + 1, before + 2]
        self._operations.append(Operation(op, places, [before + 3], options, 4 if axis is None else 3))

    def conv(self, filters: int, kernel: int = 3, stride: int = 1) -> None:
        weight = self._rng.normal(size=(filters, kernel, kernel, self.channels))
        weight /= np.sqrt(kernel * kernel * self.channels / 2)
        self.real = np.maximum(np.einsum("nhwcyx,oyxc->nhwo", _windows(self.real, kernel, stride), weight), 0)
        step = {"padding": 0, "strideH": stride, "strideW": stride}
        self._layer("CONV_2D", weight, options_of("Conv2DOptions", **step, fusedActivationFunction=1), 0)

    def depthwise(self, kernel: int, stride: int = 1) -> None:
        weight = self._rng.normal(size=(1, kernel, kernel, self.channels)) / np.sqrt(kernel * kernel / 2)
        self.real = np.maximum(np.einsum("nhwcyx,yxc->nhwc", _windows(self.real, kernel, stride), weight[0]), 0)
        step = {"padding": 0, "strideH": stride, "strideW": stride, "depthMultiplier": 1}
        options = options_of("DepthwiseConv2DOptions", **step, fusedActivationFunction=1)
        self._layer("DEPTHWISE_CONV_2D", weight, options, 3)

    def dense(self, classes: int) -> None:
        weight = self._rng.normal(size=(classes, self.channels)) / np.sqrt(self.channels) * 2
        self.real = self.real @ weight.T
        self._layer("FULLY_CONNECTED", weight, options_of("FullyConnectedOptions"), None)

    def _follow(self, op: str, options: object, version: int = 2, **other: object) -> None:
        """A layer without weights, with the quantization of its input where nothing else is said."""
        last, shape = self._tensors[-1], (1, *self.real.shape[1:])
        self._tensors.append(Tensor(shape, **{"scale": last.scale, "zero_point": last.zero_point, **other}))  # type: ignore[arg-type]
        places = [len(self._tensors) - 2], [len(self._tensors) - 1]
        self._operations.append(Operation(op, *places, options, version))

    def max_pool(self) -> None:
        n, height, width, channels = self.real.shape
        self.real = self.real.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))
        window = {"padding": 1, "strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
        self._follow("MAX_POOL_2D", options_of("Pool2DOptions", **window))

    def mean(self) -> None:
        """Of all pixels."""
        _, height, width, _ = self.real.shape
        self.real = self.real.mean(axis=(1, 2), keepdims=True)
        window = {"padding": 1, "strideH": height, "strideW": width, "filterHeight": height, "filterWidth": width}
        self._follow("AVERAGE_POOL_2D", options_of("Pool2DOptions", **window))

    def flatten(self) -> None:
        self.real = self.real.reshape(len(self.real), -1)
        self._follow("RESHAPE", options_of("ReshapeOptions", newShape=[1, self.channels]), 1)

    def write(self, path: Path, *, float_ends: bool = True) -> None:
        """The file, with a softmax and float ends behind."""
        self._follow("SOFTMAX", options_of("SoftmaxOptions", beta=1.0), scale=1 / 256, zero_point=-128)
        tensors = [*self._tensors, Tensor((1, self.channels), "float32")]
        last = len(tensors) - 1
        if float_ends:
            operations = [*self._operations, Operation("DEQUANTIZE", [last - 1], [last])]
            write_graph(path, tensors, operations, [0], [last])
        else:
            write_graph(path, tensors, self._operations[1:], [1], [last - 1])


def write_keras_cnn(path: Path, *, float_ends: bool = True) -> None:
    graph = KerasGraph(images(100, 16))
    for index, width in enumerate(WIDTHS):
        graph.conv(width)
        if index < 2:
            graph.max_pool()
    graph.flatten()
    graph.dense(CLASSES)
    graph.write(path, float_ends=float_ends)


def write_depthwise_cnn(path: Path) -> None:
    """A convolution and three depthwise ones of 5x5, each with a pointwise one: 1.7 M MAC, 346 k of them depthwise."""
    graph = KerasGraph(images(200, 16, (32, 3)))
    graph.conv(32, stride=2)
    for filters, stride in ((64, 1), (96, 2), (128, 2)):
        graph.depthwise(5, stride)
        graph.conv(filters, 1)
    graph.mean()
    graph.flatten()
    graph.dense(CLASSES)
    graph.write(path)
