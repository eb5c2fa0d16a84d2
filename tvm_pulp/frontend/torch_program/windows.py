"""Windows that move over images and sequences (convolutions, transposed ones, pooling), and resizing."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.frontend.onnx_graph_builder import GraphBuilder, GraphValue, numbers
from tvm_pulp.frontend.torch_program.elementwise import Operators, overloads
from tvm_pulp.frontend.windows import same_pads


def each(given: Any, rank: int, default: int = 1) -> list[int]:
    """One number per spatial axis; PyTorch allows a single one for all."""
    values = numbers(given) or [default]
    return values * rank if len(values) == 1 else values


def convolution(
    g: GraphBuilder,
    x: GraphValue,
    weight: GraphValue,
    bias: GraphValue | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    *rest: Any,
) -> str:
    """The node, around it a batch of one where the operand has none; `rest` is transposed, output padding, groups."""
    is_transposed, output_padding, groups = rest
    rank, window = weight.rank - 2, list(weight.shape[2:])
    dilations = each(dilation, rank)
    if padding == "same":
        pads = same_pads([1] * rank, window, [1] * rank, dilations)
    else:
        pads = each(0 if padding == "valid" else padding, rank, 0) * 2
    attributes = {"kernel_shape": window, "strides": each(stride, rank), "dilations": dilations, "group": groups}
    if is_transposed:
        attributes["output_padding"] = each(output_padding, rank, 0)
    op, batched = "ConvTranspose" if is_transposed else "Conv", x.rank == weight.rank
    made = g.emit(op, x if batched else g.reshape(x, [1, *x.shape]), weight, bias, **attributes, pads=pads)
    return made if batched else g.reshape(made, g.result.shape)


def conv(g: GraphBuilder, *operands: Any) -> str:
    *window, groups = operands
    return convolution(g, *window, False, 0, groups)


def conv_transpose(g: GraphBuilder, *operands: Any) -> str:
    *tensors, stride, padding, output_padding, groups, dilation = operands
    return convolution(g, *tensors, stride, padding, dilation, True, output_padding, groups)


def _windows(rank: int, window: Any, stride: Any, padding: Any, ceil_mode: bool) -> dict[str, Any]:
    """Attributes of both kinds of pooling; without a stride, windows stand side by side."""
    kernel = each(window, rank)
    strides = each(stride, rank) if stride else kernel
    return {
        "kernel_shape": kernel,
        "strides": strides,
        "pads": each(padding, rank, 0) * 2,
        "ceil_mode": int(ceil_mode),
    }


def max_pool(rank: int, g: GraphBuilder, x: GraphValue, *operands: Any) -> str:
    window, stride, padding, dilation, ceil_mode = operands
    windows = _windows(rank, window, stride, padding, ceil_mode)
    return g.emit("MaxPool", x, dilations=each(dilation, rank), **windows)


def avg_pool(rank: int, g: GraphBuilder, x: GraphValue, *operands: Any) -> str:
    # Sequences have no divisor of their own.
    window, stride, padding, ceil_mode, count_padding, divisor = (*operands, None)[:6]
    windows = _windows(rank, window, stride, padding, ceil_mode)
    made = g.emit("AveragePool", x, count_include_pad=int(count_padding), **windows)
    if divisor is None:
        return made
    return g.emit("Mul", made, np.float32(math.prod(windows["kernel_shape"]) / divisor))


def adaptive(op: str, rank: int, g: GraphBuilder, x: GraphValue, size: Any) -> str:
    """Pooling to a given size, where all windows are alike; else a mean or maximum per result."""
    reduce = "ReduceMean" if op == "AveragePool" else "ReduceMax"
    sizes = list(zip(x.shape[-rank:], each(size, rank), strict=True))
    if all(wanted == 1 for _, wanted in sizes):
        return g.emit(reduce, x, g.integers(*range(-rank, 0)), keepdims=1)
    if all(given % wanted == 0 for given, wanted in sizes):
        kernel = [given // wanted for given, wanted in sizes]
        return g.emit(op, x, kernel_shape=kernel, strides=kernel)
    made = x.name
    for axis, (given, wanted) in enumerate(sizes, x.rank - rank):
        parts = [
            g.emit(
                reduce,
                g.cut(made, axis, i * given // wanted, -(-(i + 1) * given // wanted)),
                g.integers(axis),
                keepdims=1,
            )
            for i in range(wanted)
        ]
        made = g.emit("Concat", *parts, axis=axis)
    return made


def _first(write: Callable[..., str], *operands: Any) -> list[str | None]:
    """The values; a program that uses the places of the largest ones is told so."""
    return [write(*operands), None]


def _resized(g: GraphBuilder, x: GraphValue, factors: Any, **attributes: Any) -> str:
    """By factors where the program states them, since they are what coordinates are computed with."""
    shape = g.result.shape
    listed = factors if isinstance(factors, list) else None
    if listed and list(shape[2:]) == [int(d * f) for d, f in zip(x.shape[2:], listed, strict=True)]:
        return g.emit("Resize", x, None, np.array([1, 1, *listed], np.float32), **attributes)
    return g.emit("Resize", x, None, None, g.integers(*shape), **attributes)


def nearest(g: GraphBuilder, x: GraphValue, _size: Any, factors: Any = None, *_: Any) -> str:
    place = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return _resized(g, x, factors, mode="nearest", **place)


def _smooth(
    mode: str, g: GraphBuilder, x: GraphValue, _size: Any, align: bool, factors: Any = None, *_: Any, **attributes: Any
) -> str:
    coordinates = "align_corners" if align else "pytorch_half_pixel"
    return _resized(g, x, factors, mode=mode, coordinate_transformation_mode=coordinates, **attributes)


OPERATORS: Operators = {
    **{f"aten.conv{n}d{kind}": conv for n in (1, 2, 3) for kind in ("", ".padding")},
    "aten.conv_transpose1d": conv_transpose,
    "aten.conv_transpose2d.input": conv_transpose,
    "aten.conv_transpose3d.input": conv_transpose,
    "aten.convolution": convolution,
    **{f"aten.max_pool{rank}d": partial(max_pool, rank) for rank in (1, 2, 3)},
    **{f"aten.max_pool{rank}d_with_indices": partial(_first, partial(max_pool, rank)) for rank in (2, 3)},
    **{f"aten.avg_pool{rank}d": partial(avg_pool, rank) for rank in (1, 2, 3)},
    **{f"aten.adaptive_avg_pool{rank}d": partial(adaptive, "AveragePool", rank) for rank in (1, 2)},
    "aten._adaptive_avg_pool2d": partial(adaptive, "AveragePool", 2),
    **{f"aten.adaptive_max_pool{rank}d": partial(_first, partial(adaptive, "MaxPool", rank)) for rank in (1, 2)},
    **{f"aten.upsample_nearest{n}d{kind}": nearest for n in (1, 2, 3) for kind in ("", ".vec")},
    **overloads(partial(_smooth, "linear"), "upsample_linear1d", "", "vec"),
    **overloads(partial(_smooth, "linear"), "upsample_bilinear2d", "", "vec"),
    **overloads(partial(_smooth, "cubic", cubic_coeff_a=-0.75), "upsample_bicubic2d", "", "vec"),
}
