"""Random single-operator QDQ graphs against onnxruntime: within one LSB, exact in at least 99.5 % of all values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.frontend import qdq_further_cases
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators

pytest.importorskip("onnxruntime")


def _size(g: Builder, low: int = 1, high: int = 9) -> int:
    return int(g.rng.integers(low, high + 1))


def conv(g: Builder, dimensions: int = 2) -> str:
    groups = int(g.rng.choice([1, 1, 2, 4]))
    # Along three axes a channel by itself stays in floats.
    channels, filters = groups * _size(g, dimensions // 3 + 1, 3), groups * _size(g, 1, 4)
    kernel = [_size(g, 1, 3) for _ in range(dimensions)]
    dilations = [_size(g, 1, 2) for _ in range(dimensions)]
    spatial = [d * (k - 1) + _size(g, 1, 8) for k, d in zip(kernel, dilations, strict=True)]
    operands = [g.activation([_size(g, 1, 2), channels, *spatial]), g.weight([filters, channels // groups, *kernel])]
    if g.rng.random() < 0.7:
        operands.append(g.constant(g.rng.normal(size=filters).astype(np.float32)))
    pads = [_size(g, 0, k) for k in kernel * 2]
    strides = [_size(g, 1, 3) for _ in range(dimensions)]
    return g.node("Conv", operands, pads=pads, strides=strides, dilations=dilations, group=groups)


def conv_transpose(g: Builder) -> str:
    groups = int(g.rng.choice([1, 1, 2]))
    channels, filters, kernel = groups * _size(g, 1, 3), _size(g, 1, 3), [_size(g, 1, 4), _size(g, 1, 4)]
    strides = [_size(g, 1, 3), _size(g, 1, 3)]
    operands = [g.activation([1, channels, _size(g, 2, 5), _size(g, 2, 5)]), g.weight([channels, filters, *kernel], 1)]
    pads = [_size(g, 0, k // 2) for k in kernel]
    extra = [_size(g, 0, s - 1) for s in strides]
    return g.node("ConvTranspose", operands, strides=strides, pads=pads * 2, group=groups, output_padding=extra)


def gemm(g: Builder) -> str:
    rows, depth, columns, transposed = _size(g), _size(g, 1, 40), _size(g, 1, 12), int(g.rng.integers(2))
    weight = g.weight([columns, depth] if transposed else [depth, columns], 0 if transposed else 1)
    bias = g.constant(g.rng.normal(size=columns).astype(np.float32))
    return g.node("Gemm", [g.activation([rows, depth]), weight, bias], transB=transposed)


def matmul_weights(g: Builder) -> str:
    depth = _size(g, 1, 40)
    product = g.node("MatMul", [g.activation([1, _size(g), depth]), g.weight([depth, columns := _size(g, 1, 12)], 1)])
    return g.node("Add", [product, g.constant(g.rng.normal(size=columns).astype(np.float32))])


def matmul(g: Builder) -> str:
    heads, rows, depth, columns = (_size(g, 1, 6) for _ in range(4))
    product = g.node("MatMul", [g.activation([heads, rows, depth]), g.activation([heads, depth, columns])])
    return g.node("Div", [product, g.constant(np.float32(np.sqrt(depth)))])


def binary(op: str) -> Callable[[Builder], str]:
    def build(g: Builder) -> str:
        shape = [_size(g, 1, 5) for _ in range(int(g.rng.integers(1, 5)))]
        other = [d if g.rng.random() < 0.7 else 1 for d in shape][int(g.rng.integers(len(shape))) :]
        return g.node(op, [g.activation(shape), g.activation(other)])

    return build


def unary(op: str, **attributes: Any) -> Callable[[Builder], str]:
    def build(g: Builder) -> str:
        return g.node(op, [g.activation([_size(g), _size(g, 1, 40)])], **attributes)

    return build


def clip(g: Builder) -> str:
    limits = [g.constant(np.float32(0)), g.constant(np.float32(6))]
    return g.node("Clip", [g.activation([3, 30]), *limits])


def relu_after_conv(g: Builder) -> str:
    return g.node("Relu", [conv(g)])


def gelu_decomposed(g: Builder) -> str:
    x = g.activation([2, 40])
    erf = g.node("Erf", [g.node("Div", [x, g.constant(np.float32(np.sqrt(2)))])])
    product = g.node("Mul", [x, g.node("Add", [erf, g.constant(np.float32(1))])])
    return g.node("Mul", [product, g.constant(np.float32(0.5))])


def pool(op: str) -> Callable[[Builder], str]:
    def build(g: Builder) -> str:
        kernel = [_size(g, 1, 4), _size(g, 1, 4)]
        spatial = [k + _size(g, 0, 6) for k in kernel]
        attributes: dict[str, Any] = {"kernel_shape": kernel, "strides": [_size(g, 1, 3), _size(g, 1, 3)]}
        attributes["pads"] = [_size(g, 0, k - 1) for k in kernel * 2]
        if op == "AveragePool":
            attributes["count_include_pad"] = int(g.rng.integers(2))
        return g.node(op, [g.activation([1, _size(g, 1, 5), *spatial])], **attributes)

    return build


def pool1d(g: Builder) -> str:
    op = str(g.rng.choice(["MaxPool", "AveragePool"]))
    return g.node(op, [g.activation([1, 3, 4 + _size(g)])], kernel_shape=[3], strides=[2], pads=[1, 0])


def global_average(g: Builder) -> str:
    return g.node("GlobalAveragePool", [g.activation([1, _size(g), _size(g), _size(g)])])


def reduce_mean(g: Builder) -> str:
    axes = sorted(g.rng.choice(3, size=int(g.rng.integers(1, 4)), replace=False).tolist())
    x = g.activation([_size(g), _size(g), _size(g)])
    return g.node("ReduceMean", [x], axes=axes, keepdims=int(g.rng.integers(2)))


def concat(g: Builder) -> str:
    shared = str(g.rng.choice(["int8", "uint8"]))
    return g.node("Concat", [g.activation([2, _size(g), 3], shared) for _ in range(_size(g, 1, 4))], axis=1)


def softmax(g: Builder) -> str:
    x = g.activation([_size(g), _size(g, 1, 30), _size(g, 1, 5)])
    return g.node("Softmax", [x], axis=int(g.rng.integers(-1, 3)))


def resize(g: Builder) -> str:
    modes = [("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("half_pixel", "round_prefer_ceil")]
    mode, nearest = modes[int(g.rng.integers(len(modes)))]
    scales = g.constant(np.array([1, 1, *g.rng.integers(1, 4, 2)], np.float32))
    x = g.activation([1, 2, _size(g), _size(g)])
    attributes = {"coordinate_transformation_mode": mode, "nearest_mode": nearest}
    return g.node("Resize", [x, "", scales], mode="nearest", **attributes)


def pad(g: Builder) -> str:
    pads = g.constant(g.rng.integers(0, 3, 6).astype(np.int64))
    return g.node("Pad", [g.activation([2, 3, 4]), pads, g.constant(np.float32(0))])


def slice_(g: Builder) -> str:
    bounds = [g.constant(np.array(v, np.int64)) for v in ([1, -5], [7, -1], [0, 2], [2, 1])]
    return g.node("Slice", [g.activation([8, 3, 6]), *bounds])


def gather(g: Builder) -> str:
    indices = g.rng.integers(-5, 5, g.rng.choice([1, 3])).astype(np.int64)
    return g.node("Gather", [g.activation([5, 4]), g.constant(indices)], axis=0)


def split(g: Builder) -> str:
    first, second = g.node("Split", [g.activation([2, 6]), g.constant(np.array([3, 3], np.int64))], 2, axis=1)
    return g.node("Mul", [first, second])


def reshape_transpose(g: Builder) -> str:
    x = g.node("Reshape", [g.activation([2, 12, 5]), g.constant(np.array([2, 3, 4, 5], np.int64))])
    return g.node("Transpose", [x], perm=[0, 2, 1, 3])


def layer_norm(g: Builder) -> str:
    weights = [g.constant(g.rng.normal(size=16).astype(np.float32)) for _ in range(2)]
    return g.node("LayerNormalization", [g.activation([3, 16]), *weights])


# Builder of the float value, and the dialect operator it must become; None where it may stay float.
CASES: dict[str, tuple[Callable[[Builder], str], str | None]] = {
    "conv2d": (conv, "conv2d"),
    "conv1d": (lambda g: conv(g, 1), "conv2d"),
    "conv3d": (lambda g: conv(g, 3), "conv2d"),
    "conv_transpose": (conv_transpose, "conv2d"),
    "relu_after_conv": (relu_after_conv, "conv2d"),
    "gemm": (gemm, "dense"),
    "matmul_weights": (matmul_weights, "dense"),
    "matmul": (matmul, "matmul"),
    "add": (binary("Add"), "add"),
    "sub": (binary("Sub"), "add"),
    "mul": (binary("Mul"), "qdq_mul"),
    "relu": (unary("Relu"), None),
    "sigmoid": (unary("Sigmoid"), "lookup"),
    "tanh": (unary("Tanh"), "lookup"),
    "hard_swish": (unary("HardSwish"), "lookup"),
    "leaky_relu": (unary("LeakyRelu", alpha=0.1), "lookup"),
    "clip": (clip, None),
    "gelu_decomposed": (gelu_decomposed, "lookup"),
    "max_pool": (pool("MaxPool"), "max_pool"),
    "average_pool": (pool("AveragePool"), "avg_pool"),
    "pool1d": (pool1d, None),
    "global_average": (global_average, "avg_pool"),
    "reduce_mean": (reduce_mean, "reduce"),
    "concat": (concat, None),
    "softmax": (softmax, "softmax"),
    "resize": (resize, None),
    "pad": (pad, "pad"),
    "slice": (slice_, "slice"),
    "gather": (gather, "gather"),
    "split": (split, "qdq_mul"),
    "reshape_transpose": (reshape_transpose, "transpose"),
    "layer_norm": (layer_norm, "qdq_norm"),
    **qdq_further_cases.INTEGER,
    **qdq_further_cases.FLOAT,
}
FLOAT_CASES = {*qdq_further_cases.FLOAT}
EXAMPLES = 12


@pytest.mark.sample(8)
@pytest.mark.parametrize("case", CASES)
def test_agrees_with_onnxruntime(case: str) -> None:
    build, operator = CASES[case]
    wrong = total = 0
    for seed in range(2 if case in FLOAT_CASES else EXAMPLES):
        g = Builder(np.random.default_rng([seed, *case.encode()]))
        model = g.typed_model([g.quantized(build(g))])
        expected = onnxruntime_run(model, g.feeds)
        module = canonical(model)
        for result, truth in zip(dialect_run(module, g.feeds), expected, strict=True):
            assert result.dtype == truth.dtype and result.shape == truth.shape
            difference = np.abs(result.astype(int) - truth.astype(int))
            assert difference.max(initial=0) <= 1, f"seed {seed}"
            wrong, total = wrong + int((difference != 0).sum()), total + difference.size
        found = operators(module)
        assert operator is None or operator in found, f"seed {seed}: {found}"
        if case not in FLOAT_CASES:
            assert not found & {"relax.quantize", "relax.dequantize"}, f"seed {seed}: {found}"
    assert wrong <= 0.005 * total, f"{wrong} of {total} differ"
