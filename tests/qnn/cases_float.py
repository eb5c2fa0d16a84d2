"""Random calls of the operators on floats."""

import json
from typing import Any

import numpy as np

from tests.qnn.cases_elementwise import broadcastable, shape
from tests.qnn.kernel_batch import Case
from tests.qnn.random_values import Rng, integers, pick
from tvm_pulp.qnn import TensorSpec, quantize
from tvm_pulp.qnn.float_softmax import exponential_points


def floats(rng: Rng, dims: tuple[int, ...], reach: float = 4.0) -> np.ndarray:
    """Values of either sign, now and then all the same, now and then zero."""
    values = rng.normal(size=dims) * reach
    if rng.random() < 0.1:
        values = np.full(dims, float(rng.normal()))
    return np.where(rng.random(dims) < 0.05, 0.0, values).astype(np.float32)


def _parameters(rng: Rng, size: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    scale = 2.0 ** rng.uniform(-9, 3, size)
    if rng.random() < 0.4:  # powers of two and short decimals: quotients that end in exactly one half
        scale = np.where(rng.random(size) < 0.5, 2.0 ** rng.integers(-8, 3, size), np.round(scale, 2) + 0.01)
    zero = integers(rng, (size,), dtype) if rng.random() < 0.6 else np.zeros(size, dtype)
    scalar = () if size == 1 and rng.random() < 0.5 else (size,)
    return scale.astype(np.float32).reshape(scalar), zero.reshape(scalar)


def _axis_of(rng: Rng, dims: tuple[int, ...]) -> tuple[int, int]:
    """An axis, and how many parameters there are."""
    axis = int(rng.integers(len(dims)))
    return axis, dims[axis] if rng.random() < 0.6 else 1


def quantized(rng: Rng) -> Case:
    dims, dtype = shape(rng), str(pick(rng, quantize.TYPES))
    axis, size = _axis_of(rng, dims)
    scale, zero = _parameters(rng, size, dtype)
    low, high = TensorSpec((), dtype).range
    along = [1] * len(dims)
    along[axis] = -1
    steps = scale.reshape(along) if size > 1 else scale.reshape(())
    # Halves of steps, exactly and one unit beside, all over the range and beyond both ends.
    halves = rng.integers(2 * (low - high), 2 * (high - low), dims) / 2
    x = (halves * steps).astype(np.float32)
    x = np.where(rng.random(dims) < 0.3, np.nextafter(x, np.float32(np.inf), dtype=np.float32), x)
    x = np.where(rng.random(dims) < 0.3, floats(rng, dims, 60.0), x)
    rare = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40, -0.0], np.float32)
    x = np.where(rng.random(dims) < 0.05, rng.choice(rare, dims), x).astype(np.float32)
    reciprocal = (np.float32(1) / scale).astype(np.float32)
    return Case("quantize", {"axis": axis, "dtype": dtype}, [x, scale, np.asarray(reciprocal), zero])


def quantized_channels_last(rng: Rng) -> Case:
    dims, dtype = (int(rng.integers(1, 3)), *shape(rng, 2, 3)), str(pick(rng, quantize.TYPES))
    scale, zero = _parameters(rng, 1, dtype)
    x = floats(rng, dims, 60.0)
    how = {"channels": dims[1] + int(rng.integers(0, 2)), "dtype": dtype}
    return Case("quantize_channels_last", how, [x, scale, np.asarray(np.float32(1) / scale), zero])


def append_quantized(rng: Rng) -> Case:
    dims, dtype = shape(rng), str(pick(rng, ("int8", "uint8")))
    scale, zero = _parameters(rng, 1, dtype)
    x, axis = floats(rng, dims, 60.0), int(rng.integers(len(dims)))
    appended = [*dims[:axis], int(rng.integers(1, 4)), *dims[axis + 1 :]]
    first, has_table = int(rng.integers(0, 9)), int(rng.random() < 0.5)
    low, high = TensorSpec((), dtype).range
    count = first + int(np.prod(appended)) + int(rng.integers(0, 9))
    more = rng.integers(low, high + 1, count).astype(dtype)
    table = [rng.integers(low, high + 1, 256).astype(dtype)] if has_table else []
    attributes = {"axis": axis, "dtype": dtype, "first": first, "appended": appended, "has_table": has_table}
    operands = [x, scale, np.asarray(np.float32(1) / scale), zero, more, *table]
    return Case("append_quantized", attributes, operands)


def dequantized(rng: Rng) -> Case:
    dims, dtype = shape(rng), str(pick(rng, quantize.TYPES_AS_FLOATS))
    axis, size = _axis_of(rng, dims)
    scale, zero = _parameters(rng, size, dtype)
    x = integers(rng, dims, dtype)
    if dtype == "int32":
        x, zero = x // 4, np.zeros_like(zero)
    return Case("dequantize", {"axis": axis}, [x, scale, zero])


UNARY = ("negative", "abs", "exp", "sqrt", "rsqrt", "sigmoid", "tanh", "erf", "floor", "ceil", "sin", "cos")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")


def _expression(rng: Rng, operands: int, depth: int) -> list[Any]:
    """A random tree; functions that are not defined everywhere get what they are defined for."""
    if depth == 0 or rng.random() < 0.15:
        constant = ["c", float(np.float32(rng.uniform(0.25, 2)))]
        return constant if rng.random() < 0.2 else ["x", int(rng.integers(operands))]

    def part() -> list[Any]:
        return _expression(rng, operands, depth - 1)

    def positive() -> list[Any]:
        return ["add", ["abs", part()], ["c", 0.5]]

    kind = rng.random()
    if kind < 0.4:
        name = str(pick(rng, UNARY))
        inside = positive() if name in ("sqrt", "rsqrt") else ["tanh", part()] if name == "exp" else part()
        # Steps and angles make much of a last bit: only of operands themselves.
        return [name, ["x", 0] if name in ("floor", "ceil", "sin", "cos") else inside]
    if kind < 0.5:
        return ["where", ["less", ["x", 0], ["c", 0.125]], part(), part()]
    name = str(pick(rng, BINARY))
    return [name, ["tanh", part()], positive() if name == "divide" else ["tanh", part()]]


def float_map(rng: Rng) -> Case:
    a, b = broadcastable(rng)
    shapes = [a, b, *([(1,)] if rng.random() < 0.3 else [])]
    if rng.random() < 0.3:  # one long axis, as most maps have
        shapes = [(int(pick(rng, (8, 37, 130))),)] * 2
    dims = np.broadcast_shapes(*shapes)
    # What is near a step, as 0.125 above, or near zero below a division must not depend on the last bit.
    operands = [np.round(floats(rng, s, 1.5) * 16) / np.float32(16) + np.float32(0.03125) for s in shapes]
    tree = _expression(rng, len(shapes), int(rng.integers(1, 4)))
    if rng.random() < 0.3:
        # Of an operand itself: the last bit of a function would decide halves.
        dtype, scale = str(pick(rng, quantize.TYPES)), np.float32(pick(rng, (0.0625, 0.05, 0.013)))
        parameters = [float(scale), float(np.float32(1) / scale), float(rng.integers(0, 100))]
        tree = [f"quantize_{dtype}", ["x", 0], *(["c", p] for p in parameters)]
    return Case("float_map", {"expression": json.dumps(tree), "shape": list(dims)}, operands)


def float_matmul(rng: Rng) -> Case:
    rows, columns, depth = (int(pick(rng, (1, 2, 3, 5, 8, 13, 17))) for _ in range(3))
    a, b = broadcastable(rng) if rng.random() < 0.5 else ((), ())
    transposed = bool(rng.integers(2))
    operands = [
        floats(rng, (*a, rows, depth)),
        floats(rng, (*b, columns, depth) if transposed else (*b, depth, columns)),
    ]
    if rng.random() < 0.5:
        operands.append(floats(rng, (columns,)))
    return Case("float_matmul", {"transpose_b": transposed}, operands)


def _window(rng: Rng) -> tuple[dict[str, Any], list[int], tuple[int, int]]:
    """Strides and dilation, a kernel, and a size that holds at least one window."""
    kernel = [int(k) for k in rng.integers(1, 4, 2)]
    strides, dilation = ([int(v) for v in rng.integers(1, 3, 2)] for _ in range(2))
    size = tuple(int((k - 1) * d + 1 + rng.integers(0, 9)) for k, d in zip(kernel, dilation, strict=True))
    return {"strides": strides, "dilation": dilation}, kernel, (size[0], size[1])


def float_conv2d(rng: Rng) -> Case:
    attributes, kernel, size = _window(rng)
    groups, inside, outside = (int(v) for v in rng.integers(1, 5, 3))
    if rng.random() < 0.3:
        inside = outside = 1  # depthwise
    x = floats(rng, (int(rng.integers(1, 3)), groups * inside, *size))
    operands = [x, floats(rng, (inside, *kernel, groups * outside), 0.3)]
    if rng.random() < 0.5:
        operands.append(floats(rng, (groups * outside,)))
    return Case("float_conv2d", {**attributes, "groups": groups}, operands)


def float_pool(rng: Rng) -> Case:
    attributes, kernel, size = _window(rng)
    x = floats(rng, (*(int(v) for v in rng.integers(1, 4, 2)), *size))
    return Case("float_pool", {**attributes, "kernel": kernel, "kind": str(pick(rng, ("max", "avg")))}, [x])


def float_softmax(rng: Rng) -> Case:
    x = floats(rng, (*shape(rng, 0, 3), int(pick(rng, (1, 2, 4, 7, 33)))), 10.0)
    if rng.random() < 0.3:  # masked positions
        x[..., 1:][rng.random(x[..., 1:].shape) < 0.3] = pick(rng, (-np.inf, -1e9, np.finfo(np.float32).min))
    return Case("float_softmax", {}, [x, *([exponential_points()] if rng.random() < 0.6 else [])])


def float_norm(rng: Rng) -> Case:
    count, kind = int(pick(rng, (1, 3, 4, 16, 65))), str(pick(rng, ("layer", "rms")))
    x = floats(rng, (*shape(rng, 0, 3), count)) + np.float32(rng.normal())
    operands = [x, floats(rng, (count,)), *([floats(rng, (count,))] if kind == "layer" else [])]
    return Case("float_norm", {"kind": kind, "epsilon": float(pick(rng, (1e-5, 1e-6, 0.1)))}, operands)


def float_reduce(rng: Rng) -> Case:
    x = floats(rng, shape(rng))
    first = int(rng.integers(x.ndim))
    axes = list(range(first, int(rng.integers(first, x.ndim)) + 1))
    kind, square = str(pick(rng, ("sum", "mean", "max", "min"))), ["multiply", ["x", 0], ["x", 0]]
    tree = json.dumps(square if rng.random() < 0.4 else ["x", 0])
    return Case("float_reduce", {"kind": kind, "axes": axes, "keepdims": int(rng.integers(2)), "expression": tree}, [x])


CASES = {
    "append_quantized": append_quantized,
    "dequantize": dequantized,
    "float_conv2d": float_conv2d,
    "float_map": float_map,
    "float_matmul": float_matmul,
    "float_norm": float_norm,
    "float_pool": float_pool,
    "float_reduce": float_reduce,
    "float_softmax": float_softmax,
    "quantize": quantized,
    "quantize_channels_last": quantized_channels_last,
}
