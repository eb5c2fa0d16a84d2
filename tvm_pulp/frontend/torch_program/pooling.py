"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.convolutions import each
from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


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


def max_pool(rank: int, g: GraphBuilder, x: Value, *operands: Any) -> str:
    window, stride, padding, dilation, ceil_mode = operands
    windows = _windows(rank, window, stride, padding, ceil_mode)
    return g.emit("MaxPool", x, dilations=each(dilation, rank), **windows)


def avg_pool(rank: int, g: GraphBuilder, x: Value, *operands: Any) -> str:
    # Sequences have no divisor of their own.
    window, stride, padding, ceil_mode, count_padding, divisor = (*operands, None)[:6]
    windows = _windows(rank, window, stride, padding, ceil_mode)
    made = g.emit("AveragePool", x, count_include_pad=int(count_padding), **windows)
    if divisor is None:
        return made
    return g.emit("Mul", made, np.float32(math.prod(windows["kernel_shape"]) / divisor))


def adaptive(op: str, rank: int, g: GraphBuilder, x: Value, size: Any) -> str:
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


def _first(write: Callable[..., str]) -> Callable[..., list[str | None]]:
    """The values; a program that uses the places of the largest ones is told so."""
    return lambda g, *operands: [write(g, *operands), None]


OPERATORS: Operators = {
    **{f"aten.max_pool{rank}d": partial(max_pool, rank) for rank in (1, 2, 3)},
    **{f"aten.max_pool{rank}d_with_indices": _first(partial(max_pool, rank)) for rank in (2, 3)},
    **{f"aten.avg_pool{rank}d": partial(avg_pool, rank) for rank in (1, 2, 3)},
    **{f"aten.adaptive_avg_pool{rank}d": partial(adaptive, "AveragePool", rank) for rank in (1, 2)},
    "aten._adaptive_avg_pool2d": partial(adaptive, "AveragePool", 2),
    **{f"aten.adaptive_max_pool{rank}d": _first(partial(adaptive, "MaxPool", rank)) for rank in (1, 2)},
}
