"""One layer of every operator that can be cut, with odd sizes and constants that differ by channel."""

import json
from typing import Any

import numpy as np

from tvm_pulp.qnn import curve
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec

NONE = Requant().attributes()
PULP = Requant("pulp", 8, 0, -128, 127, True).attributes()


def make_layer(operator: str, attributes: dict[str, Any], *operands: TensorSpec | np.ndarray) -> Layer:
    """A layer; arrays are constants."""
    inputs = []
    for i, operand in enumerate(operands):
        if isinstance(operand, TensorSpec):
            inputs.append(Tensor(f"x{i}", operand, "input"))
        else:
            spec = TensorSpec(tuple(operand.shape), str(operand.dtype))
            inputs.append(Tensor(f"c{i}", spec, "constant", data=operand))
    out = OPERATORS[operator].infer(OPERATORS[operator].stated(attributes), [t.spec for t in inputs])
    macs = OPERATORS[operator].macs(OPERATORS[operator].stated(attributes), [t.spec for t in inputs], out)
    return Layer("layer", operator, attributes, inputs, [Tensor("y", out, "output")], None, macs)


def vector(source: np.random.Generator, size: int, low: int, high: int, dtype: str = "int32") -> np.ndarray:
    return source.integers(low, high, (size,), endpoint=True).astype(dtype)


def float_layers() -> dict[str, Layer]:
    """The same for operators on floats."""
    source = np.random.default_rng(6)

    def floats(*shape: int) -> np.ndarray:
        return source.normal(size=shape).astype(np.float32)

    image, rows = TensorSpec((2, 4, 9, 11), "float32"), TensorSpec((3, 5, 7), "float32")
    window: dict[str, Any] = {"strides": [2, 1], "dilation": [1, 2]}
    scale, zero = np.abs(floats(4)) + np.float32(0.1), vector(source, 4, -9, 9, "int8")
    expression = json.dumps(["add", ["multiply", ["x", 0], ["x", 1]], ["tanh", ["x", 2]]])
    whole = {"expression": json.dumps(["multiply", ["x", 0], ["x", 0]]), "kind": "sum"}
    return {
        "quantize": make_layer(
            "quantize", {"axis": 1, "dtype": "int8"}, image, scale, (1 / scale).astype(np.float32), zero
        ),
        "quantize with one scale": make_layer(
            "quantize", {"axis": 0, "dtype": "uint8"}, rows, np.float32(0.25).reshape(()), floats(1), zero[:1]
        ),
        "quantize_channels_last": make_layer(
            "quantize_channels_last",
            {"channels": 4, "dtype": "int8"},
            image,
            scale[:1],
            (1 / scale[:1]).astype(np.float32),
            zero[:1],
        ),
        "quantize_channels_last, more channels": make_layer(
            "quantize_channels_last",
            {"channels": 6, "dtype": "int8"},
            image,
            scale[:1],
            (1 / scale[:1]).astype(np.float32),
            zero[:1],
        ),
        "dequantize": make_layer("dequantize", {"axis": 1}, TensorSpec(image.shape, "int8"), scale, zero),
        "float_map": make_layer(
            "float_map", {"expression": expression, "shape": list(rows.shape)}, rows, floats(5, 1), floats(7)
        ),
        "float_matmul": make_layer("float_matmul", {"transpose_b": False}, rows, floats(7, 6), floats(6)),
        "float_matmul, transposed": make_layer("float_matmul", {"transpose_b": True}, rows, floats(3, 4, 7)),
        "float_conv2d": make_layer("float_conv2d", {**window, "groups": 1}, image, floats(4, 3, 2, 5), floats(5)),
        "float_conv2d in groups": make_layer("float_conv2d", {**window, "groups": 2}, image, floats(2, 3, 3, 6)),
        "float_pool": make_layer("float_pool", {**window, "kernel": [3, 2], "kind": "max"}, image),
        "float_reduce": make_layer("float_reduce", {**whole, "axes": [1], "keepdims": 0}, image),
        "float_reduce, axes kept": make_layer("float_reduce", {**whole, "axes": [2, 3], "keepdims": 1}, image),
        "pad": make_layer("pad", {"before": [0, 0, 1, 2], "after": [0, 0, 0, 3], "value": 1.5}, image),
        "float_softmax": make_layer("float_softmax", {}, rows),
        "float_norm": make_layer("float_norm", {"kind": "layer", "epsilon": 1e-5}, rows, floats(7), floats(7)),
    }


def layers() -> dict[str, Layer]:
    """Layers by a name that says what is special."""
    source = np.random.default_rng(5)
    requant = [vector(source, 7, 1, 200), vector(source, 7, -(1 << 14), 1 << 14)]
    one = [vector(source, 1, 1, 200), vector(source, 1, -(1 << 14), 1 << 14)]
    x = TensorSpec((2, 9, 11, 7), "int8")
    rows = TensorSpec((3, 5, 7), "int8")
    steps: dict[str, Any] = {"strides": [2, 1], "dilation": [1, 1], "pads": [1, 2, 1, 0]}
    window = {"layout": "NHWC", **steps}
    pairs = {"zero_point_a": 3, "zero_point_b": -5}
    add = {"form": "plain", "requant_a": "none", "requant_b": "none", "zero_point_a": 0, "zero_point_b": 0}
    fixed_point = {"fraction": 20, "axis": 3, "left_a": 10, "left_b": 0}
    weight = vector(source, 7, -90, 90, "int32")
    return {
        "requantize": make_layer("requantize", {**PULP, "zero_point": 4, "axis": 3}, x, *requant),
        "requantize along an inner axis": make_layer(
            "requantize", {**PULP, "zero_point": 0, "axis": 1}, TensorSpec((2, 7, 5, 3), "int32"), *requant
        ),
        "hardswish": make_layer("hardswish", {**PULP, "three": 24, "six": 48, "one_over_six": 3}, x, *one),
        "gelu": make_layer("gelu", {**PULP, "b": -30, "one": 900}, x, *requant),
        "add": make_layer("add", {**add, **PULP}, x, x, *one),
        "add that broadcasts": make_layer("add", {**add, **NONE}, x, TensorSpec((11, 1), "int8")),
        "add_accumulators": make_layer(
            "add_accumulators",
            {**Requant("half_up", 0, 3, -128, 127).attributes(), **pairs, **fixed_point},
            TensorSpec(x.shape, "int32"),
            x,
            vector(source, 7, 1 << 20, 1 << 22),
            vector(source, 1, 1 << 17, 1 << 18),
        ),
        "sub": make_layer("sub", {**PULP, **pairs}, x, TensorSpec((1, 9, 1, 7), "int8"), *requant),
        "mul": make_layer("mul", {**PULP, **pairs}, x, TensorSpec((7,), "int8"), *requant),
        "no_norm": make_layer("no_norm", {"levels": 256, "shift": 8, "mul": 3}, rows, weight, weight[::-1].copy()),
        "integer_div": make_layer("integer_div", {**PULP, "operands": 1, "numerator": 100, "denominator": 7}, x, *one),
        "integer_div of two": make_layer(
            "integer_div",
            {**NONE, "operands": 2, "numerator": 100, "eta": 1, "eps": 1},
            x,
            TensorSpec((2, 9, 11, 1), "uint8"),
        ),
        "lookup": make_layer("lookup", {}, x, vector(source, 256, -128, 127, "int8")),
        "gate": make_layer("gate", PULP, x, x, vector(source, 256, -128, 127, "int8"), *one),
        "curve": make_layer(
            "curve",
            {"function": "tanh", **curve.parameters(1 / 5000)},
            TensorSpec((1, 9, 11, 6), "int16"),
            curve.sigmoid_points(),
        ),
        "softmax": make_layer("softmax", {"form": "ita_max", "levels": 256}, rows),
        "rms_norm": make_layer("rms_norm", {"shift": 4, "levels": 256, "wide": 1}, rows, weight),
        "layer_norm": make_layer(
            "layer_norm", {"shift": 4, "levels": 256, "wide": 1}, rows, weight, weight[::-1].copy()
        ),
        "qdq_norm": make_layer(
            "qdq_norm",
            {
                "centred": 1,
                "has_table": 0,
                "zero_point_x": 3,
                "statistic": 1e-4,
                "epsilon": 1e-5,
                "gain": 0.1,
                "index_limits": [0, 0],
                "biases": [1],
                "rounds": [0, 1],
                "low": [0, -131],
                "high": [0, 124],
                "zero_point": 3,
                "dtype": "int8",
            },
            rows,
            np.linspace(-1, 2, rows.shape[-1]).astype(np.float32),
            np.linspace(-9, 7, rows.shape[-1]).astype(np.float32),
        ),
        "qdq_mul": make_layer(
            "qdq_mul",
            {**pairs, "scale": 0.0078125, "low": -131, "high": 124, "zero_point": 3, "dtype": "int8"},
            x,
            TensorSpec((7,), "int8"),
        ),
        "im2col": make_layer("im2col", {**steps, "kernel": [3, 3], "zero_point": -7}, x),
        "max_pool": make_layer("max_pool", {**window, "kernel": [3, 3]}, x),
        "avg_pool": make_layer("avg_pool", {**window, **NONE, "kernel": [3, 3], "low": -128, "high": 127}, x),
        "avg_pool with requantization": make_layer(
            "avg_pool",
            {**window, **Requant("half_even", 0, 3, -128, 127).attributes(), "kernel": [2, 3], "zero_point": 2},
            x,
            vector(source, 7, 1 << 29, (1 << 31) - 1),
            vector(source, 7, 31, 33),
        ),
        "transpose": make_layer("transpose", {"axes": [2, 0, 3, 1]}, x),
        "matmul": make_layer("matmul", {**NONE, **pairs, "transpose_b": 0}, rows, TensorSpec((3, 7, 6), "int8")),
        "matmul with one matrix for the batch": make_layer(
            "matmul", {**PULP, **pairs, "transpose_b": 1}, rows, TensorSpec((1, 7, 7), "int8"), *requant
        ),
        "conv2d": make_layer(
            "conv2d",
            {**PULP, **window, "groups": 1, "zero_point": -7, "has_bias": 1},
            x,
            source.integers(-9, 9, (7, 3, 4, 7)).astype(np.int8),
            vector(source, 7, -500, 500),
            *requant,
        ),
        "conv2d in groups": make_layer(
            "conv2d",
            {**NONE, **window, "groups": 7, "zero_point": 1, "has_bias": 1},
            x,
            source.integers(-9, 9, (14, 3, 3, 1)).astype(np.int8),
            vector(source, 14, -500, 500),
        ),
        "conv2d with dilation": make_layer(
            "conv2d",
            {**NONE, **window, "dilation": [2, 3], "groups": 1, "zero_point": 0, "has_bias": 0},
            x,
            source.integers(-9, 9, (5, 3, 2, 7)).astype(np.int8),
        ),
        "dense": make_layer(
            "dense",
            {**PULP, "zero_point": 9, "has_bias": 0},
            rows,
            source.integers(-9, 9, (7, 7)).astype(np.int8),
            *requant,
        ),
    }
