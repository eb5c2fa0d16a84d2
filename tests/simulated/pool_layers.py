"""Single layers of the PULP dialect, as large as many cores need."""

from pathlib import Path

import numpy as np
import onnx

from tvm_pulp.frontend.zoo.builder import Builder


def write_dense(path: Path, rows: int = 256, columns: int = 256, depth: int = 256) -> Path:
    """A dense layer with batch normalization."""
    builder = Builder("dense", 1)
    values = np.random.default_rng(1).integers(-128, 128, (rows, depth), dtype=np.int8)
    builder.output(builder.dense("layer", builder.input("x", [values]), columns))
    onnx.save(builder.model(), path)
    return path


def write_conv(path: Path, channels: int = 64, size: int = 32) -> Path:
    """A 3 x 3 convolution with as many channels behind it."""
    builder = Builder("conv", 1)
    values = np.random.default_rng(1).integers(-128, 128, (1, channels, size, size), dtype=np.int8)
    builder.output(builder.conv("layer", builder.input("x", [values]), channels, (3, 3)))
    onnx.save(builder.model(), path)
    return path


def write_small(path: Path) -> Path:
    """Convolutions of odd sizes: pixels of no whole words and of whole words, strided, depthwise, pointwise."""
    builder = Builder("small", 2)
    values = np.random.default_rng(2).integers(-128, 128, (1, 3, 9, 11), dtype=np.int8)
    x = builder.conv("stem", builder.input("x", [values]), 8, (3, 3))
    x = builder.conv("strided", x, 10, (3, 3), (2, 2))
    x = builder.conv("narrow", builder.conv("pointwise", x, 12, (1, 1)), 7, (3, 1), relu=False)
    x = builder.conv("depthwise", x, 7, (3, 3), depthwise=True)
    builder.output(builder.conv("last", x, 3, (1, 1)))
    onnx.save(builder.model(), path)
    return path
