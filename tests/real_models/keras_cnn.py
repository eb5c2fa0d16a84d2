"""A Keras CNN as TFLite's converter writes it after full integer quantization with float ends.

QUANTIZE, three convolutions of 3x3 with RELU and MAX_POOL_2D between them, RESHAPE, FULLY_CONNECTED, SOFTMAX,
DEQUANTIZE: 1.5 M MAC.
"""

from pathlib import Path

import numpy as np

from tests.frontend.single_tflite import Operation, Tensor, options_of, write_graph

SIZE, WIDTHS, CLASSES = 28, (16, 32, 32), 10


def images(seed: int, count: int = 1) -> np.ndarray:
    """Smooth pictures between 0 and 1."""
    rng = np.random.default_rng([5, seed])
    coarse = rng.uniform(size=(count, 7, 7, 1)).repeat(4, axis=1).repeat(4, axis=2)
    return np.asarray(np.clip(coarse + rng.normal(size=coarse.shape) * 0.1, 0, 1).astype(np.float32))


def _conv(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (3, 3), (1, 2))
    return np.asarray(np.einsum("nhwcyx,oyxc->nhwo", windows, weight))


def _scale_and_zero(values: np.ndarray) -> dict[str, float | int]:
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = (high - low) / 255
    return {"scale": scale, "zero_point": round(-128 - low / scale)}


def write_keras_cnn(path: Path, *, float_ends: bool = True) -> None:
    """Random weights; ranges of activations from sixteen pictures."""
    rng = np.random.default_rng(11)
    real = images(100, 16)
    tensors = [Tensor((1, SIZE, SIZE, 1), "float32"), Tensor((1, SIZE, SIZE, 1), **_scale_and_zero(real))]
    operations = [Operation("QUANTIZE", [0], [1], version=1)]

    def layer(op: str, weight: np.ndarray, result: np.ndarray, shape: tuple[int, ...], options: object) -> None:
        axes = tuple(range(1, weight.ndim))
        per_channel = op == "CONV_2D"
        largest = np.abs(weight).max(axis=axes) if per_channel else np.abs(weight).max().reshape(1)
        scales = np.maximum(largest, 1e-9) / 127
        spread = scales.reshape(-1, *[1] * len(axes))
        integers = np.clip(np.rint(weight / spread), -127, 127).astype(np.int8)
        before = len(tensors) - 1
        unit = np.float32(tensors[before].scale) * scales.astype(np.float32)
        bias = np.rint(rng.normal(size=weight.shape[0]) * 0.05 / unit).astype(np.int32)
        tensors.extend(
            [
                Tensor(weight.shape, "int8", scales.tolist(), 0, integers),
                Tensor(bias.shape, "int32", unit.tolist(), 0, bias),
                Tensor(shape, **_scale_and_zero(result)),
            ]
        )
        places = [before, before + 1, before + 2]
        operations.append(Operation(op, places, [before + 3], options, 3 if per_channel else 4))

    def follow(op: str, shape: tuple[int, ...], options: object, **other: object) -> None:
        last = tensors[-1]
        tensors.append(Tensor(shape, **{"scale": last.scale, "zero_point": last.zero_point, **other}))  # type: ignore[arg-type]
        operations.append(Operation(op, [len(tensors) - 2], [len(tensors) - 1], options, 1 if op == "RESHAPE" else 2))

    depth, size = 1, SIZE
    for index, width in enumerate(WIDTHS):
        weight = rng.normal(size=(width, 3, 3, depth)) / np.sqrt(4.5 * depth)
        real = np.maximum(_conv(real, weight), 0)
        same = {"padding": 0, "strideH": 1, "strideW": 1}
        layer(
            "CONV_2D",
            weight,
            real,
            (1, size, size, width),
            options_of("Conv2DOptions", **same, fusedActivationFunction=1),
        )
        depth = width
        if index < 2:
            real = real.reshape(-1, size // 2, 2, size // 2, 2, width).max(axis=(2, 4))
            size //= 2
            window = {"padding": 1, "strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
            follow("MAX_POOL_2D", (1, size, size, width), options_of("Pool2DOptions", **window))
    flat = size * size * depth
    follow("RESHAPE", (1, flat), options_of("ReshapeOptions", newShape=[1, flat]))
    weight = rng.normal(size=(CLASSES, flat)) / np.sqrt(flat) * 2
    layer(
        "FULLY_CONNECTED", weight, real.reshape(-1, flat) @ weight.T, (1, CLASSES), options_of("FullyConnectedOptions")
    )
    follow("SOFTMAX", (1, CLASSES), options_of("SoftmaxOptions", beta=1.0), scale=1 / 256, zero_point=-128)
    tensors.append(Tensor((1, CLASSES), "float32"))
    operations.append(Operation("DEQUANTIZE", [len(tensors) - 2], [len(tensors) - 1]))
    if float_ends:
        write_graph(path, tensors, operations, [0], [len(tensors) - 1])
    else:
        write_graph(path, tensors, operations[1:-1], [1], [len(tensors) - 2])
