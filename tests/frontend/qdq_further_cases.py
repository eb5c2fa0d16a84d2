"""More single-operator QDQ graphs: movement, resizing, automatic padding, functions of one tensor, float islands."""

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.frontend.quantized_onnx import Builder


def _size(g: Builder, low: int = 1, high: int = 7) -> int:
    return int(g.rng.integers(low, high + 1))


def _pick(g: Builder, *choices: str) -> str:
    return str(g.rng.choice(choices))


def _integers(g: Builder, *values: int) -> str:
    return g.constant(np.array(values, np.int64))


def conv_automatic(g: Builder) -> str:
    kernel, dimensions = _size(g, 1, 3), int(g.rng.integers(1, 3))
    x = g.activation([1, 2, *(kernel + _size(g) for _ in range(dimensions))])
    attributes = {"strides": [_size(g, 1, 3)] * dimensions, "auto_pad": _pick(g, "SAME_UPPER", "SAME_LOWER", "VALID")}
    return g.node("Conv", [x, g.weight([3, 2, *[kernel] * dimensions])], **attributes)


def conv_transpose_1d(g: Builder) -> str:
    stride = _size(g, 1, 3)
    x, weight = g.activation([1, 4, _size(g, 2, 9)]), g.weight([4, 2, _size(g, 2, 4)], 1)
    extra = [_size(g, 0, stride - 1)]
    return g.node("ConvTranspose", [x, weight], strides=[stride], pads=[1, 0], output_padding=extra, group=2)


def conv_transpose_stated_size(g: Builder) -> str:
    size = [_size(g, 2, 5), _size(g, 2, 5)]
    operands = [g.activation([1, 2, *size]), g.weight([2, 3, 3, 3], 1), g.constant(g.rng.normal(size=3).astype("f4"))]
    if g.rng.random() < 0.5:
        return g.node("ConvTranspose", operands, strides=[2, 2], auto_pad=_pick(g, "SAME_UPPER", "SAME_LOWER"))
    return g.node("ConvTranspose", operands, strides=[2, 2], output_shape=[2 * s for s in size])


def resize(mode: str) -> Callable[[Builder], str]:
    def build(g: Builder) -> str:
        places = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]
        attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": _pick(g, *places)}
        if mode == "nearest":
            attributes["nearest_mode"] = _pick(g, "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
        x = g.activation([1, 2, _size(g, 2, 6), _size(g, 2, 6)])
        if g.rng.random() < 0.5:
            sizes = _integers(g, 1, 2, _size(g, 1, 11), _size(g, 1, 11))
            return g.node("Resize", [x, "", "", sizes], **attributes)
        scales = g.constant(np.array([1, 1, *g.rng.choice([0.5, 1, 1.5, 2, 3], 2)], np.float32))
        return g.node("Resize", [x, "", scales], **attributes)

    return build


def pad_mode(g: Builder) -> str:
    widths = [0, 0, _size(g, 0, 2), _size(g, 0, 2), 0, 0, _size(g, 0, 2), _size(g, 0, 2)]
    return g.node("Pad", [g.activation([1, 2, 4, 5]), _integers(g, *widths)], mode=_pick(g, "reflect", "edge"))


def pad_value(g: Builder) -> str:
    value = g.constant(np.float32(g.rng.normal()))
    return g.node("Pad", [g.activation([2, 4, 5]), _integers(g, 0, -1, 2, 1, 2, -1), value])


def slice_backwards(g: Builder) -> str:
    bounds = [_integers(g, v) for v in (-1, -100, 1, -_size(g, 1, 3))]
    return g.node("Slice", [g.activation([3, 9]), *bounds])


def gather_rows(g: Builder) -> str:
    indices = g.constant(g.rng.integers(-4, 4, (2, 2)).astype(np.int64))
    return g.node("Gather", [g.activation([5, 4, 3]), indices], axis=1)


def embedding(g: Builder) -> str:
    # Rows are chosen at run time; the table stays integers.
    table, scale, zero = g.weight_integers([9, 5], 0, False)
    indices = g.name("indices")
    g.feeds[indices] = g.rng.integers(-9, 9, 4).astype(np.int64)
    g.inputs.append(helper.make_tensor_value_info(indices, TensorProto.INT64, [4]))
    return g.node("Gather", [g.node("DequantizeLinear", [table, scale, zero]), indices], axis=0)


def split_uneven(g: Builder) -> str:
    a, b, c = g.node("Split", [g.activation([2, 9]), _integers(g, 2, 3, 4)], 3, axis=1)
    return g.node("Concat", [c, a, b], axis=1)


def squeeze(g: Builder) -> str:
    flat = g.node("Squeeze", [g.activation([1, 4, 1, 5]), _integers(g, 0)])
    return g.node("Unsqueeze", [flat, _integers(g, 3)])


def expand(g: Builder) -> str:
    return g.node("Expand", [g.activation([1, 4, 1]), _integers(g, _size(g), 4, _size(g))])


def tile(g: Builder) -> str:
    return g.node("Tile", [g.activation([2, 4]), _integers(g, _size(g, 1, 3), _size(g, 1, 3))])


def extreme(g: Builder) -> str:
    return g.node(_pick(g, "Max", "Min"), [g.activation([3, 4]), g.activation([1, 4])])


def where(g: Builder) -> str:
    condition = g.constant(g.rng.integers(0, 2, (3, 4)).astype(bool))
    return g.node("Where", [condition, g.activation([3, 4]), g.activation([3, 4])])


def reduce_max(g: Builder) -> str:
    if g.rng.random() < 0.5:
        return g.node("GlobalMaxPool", [g.activation([1, 3, _size(g), _size(g)])])
    return g.node("ReduceMax", [g.activation([3, 4, 5])], axes=[int(g.rng.integers(3))], keepdims=0)


def one_tensor(g: Builder) -> str:
    op = _pick(g, "HardSigmoid", "Elu", "Softplus", "Softsign", "Abs", "Neg", "Selu", "Erf", "Floor", "Round")
    return g.node(op, [g.activation([3, 30])])


def gelu(g: Builder) -> str:
    return g.node(_pick(g, "Gelu", "FastGelu"), [g.activation([3, 30])], domain="com.microsoft")


def gelu_tanh(g: Builder) -> str:
    x = g.activation([3, 30])

    def number(value: float) -> str:
        return g.constant(np.float32(value))

    cubic = g.node("Add", [x, g.node("Mul", [number(0.044715), g.node("Pow", [x, number(3)])])])
    gate = g.node("Add", [number(1), g.node("Tanh", [g.node("Mul", [number(0.7978845608), cubic])])])
    return g.node("Mul", [g.node("Mul", [number(0.5), x]), gate])


def silu(g: Builder) -> str:
    x = g.activation([3, 30])
    return g.node("Mul", [x, g.node("Sigmoid", [x])])


def space_to_depth(g: Builder) -> str:
    if g.rng.random() < 0.5:
        return g.node("DepthToSpace", [g.activation([1, 8, 3, 2])], blocksize=2, mode=_pick(g, "DCR", "CRD"))
    return g.node("SpaceToDepth", [g.activation([1, 2, 4, 6])], blocksize=2)


def pool_ceil(g: Builder) -> str:
    return g.node("MaxPool", [g.activation([1, 2, 7, 8])], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)


def layer_norm_decomposed(g: Builder) -> str:
    x = g.activation([3, 16])
    centred = g.node("Sub", [x, g.node("ReduceMean", [x], axes=[-1])])
    variance = g.node("ReduceMean", [g.node("Pow", [centred, g.constant(np.float32(2))])], axes=[-1])
    root = g.node("Sqrt", [g.node("Add", [variance, g.constant(np.float32(1e-5))])])
    weight = g.constant(g.rng.normal(size=16).astype(np.float32))
    return g.node("Mul", [g.node("Div", [centred, root]), weight])


# Builder of the float value, and the dialect operator it must become; None where several forms are right.
INTEGER: dict[str, tuple[Callable[[Builder], str], str | None]] = {
    "conv_automatic": (conv_automatic, "conv2d"),
    "layer_norm_decomposed": (layer_norm_decomposed, "qdq_norm"),
    "conv_transpose_1d": (conv_transpose_1d, "conv2d"),
    "conv_transpose_stated_size": (conv_transpose_stated_size, "conv2d"),
    "resize_nearest": (resize("nearest"), None),
    "resize_linear": (resize("linear"), None),
    "pad_mode": (pad_mode, None),
    "pad_value": (pad_value, "pad"),
    "slice_backwards": (slice_backwards, "slice"),
    "gather_rows": (gather_rows, "gather"),
    "embedding": (embedding, "relax.take"),
    "split_uneven": (split_uneven, "slice"),
    "squeeze": (squeeze, "lookup"),
    "expand": (expand, "lookup"),
    "tile": (tile, "lookup"),
    "extreme": (extreme, None),
    "where": (where, "relax.where"),
    "reduce_max": (reduce_max, None),
    "one_tensor": (one_tensor, "lookup"),
    "gelu": (gelu, "lookup"),
    "gelu_tanh": (gelu_tanh, "lookup"),
    "silu": (silu, "lookup"),
    "space_to_depth": (space_to_depth, "transpose"),
    "pool_ceil": (pool_ceil, "max_pool"),
}
# The model keeps these in float, and so does the compiler.
FLOAT: dict[str, tuple[Callable[[Builder], str], str | None]] = {
    "resize_cubic": (resize("cubic"), None),
}
