"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Callable
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


def _max_pool(rank: int) -> Callable[..., str]:
    def write(
        g: GraphBuilder,
        x: Value,
        window: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> str:
        windows = _windows(rank, window, stride, padding, ceil_mode)
        return g.emit("MaxPool", x, dilations=each(dilation, rank), **windows)

    return write


def _avg_pool(rank: int) -> Callable[..., str]:
    def write(
        g: GraphBuilder,
        x: Value,
        window: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_padding: bool = True,
        divisor: int | None = None,
    ) -> str:
        windows = _windows(rank, window, stride, padding, ceil_mode)
        made = g.emit("AveragePool", x, count_include_pad=int(count_padding), **windows)
        if divisor is None:
            return made
        return g.emit("Mul", made, np.float32(math.prod(windows["kernel_shape"]) / divisor))

    return write


def _adaptive(op: str, rank: int) -> Callable[..., Any]:
    """Pooling to a given size, where all windows are alike; else a mean or maximum per result."""

    reduce = "ReduceMean" if op == "AveragePool" else "ReduceMax"

    def write(g: GraphBuilder, x: Value, size: Any) -> str:
        wanted = each(size, rank)
        given = x.shape[-rank:]
        if all(w == 1 for w in wanted):
            axes = g.integers(*range(-rank, 0))
            return g.emit(reduce, x, axes, keepdims=1)
        if all(d % w == 0 for d, w in zip(given, wanted, strict=True)):
            kernel = [d // w for d, w in zip(given, wanted, strict=True)]
            return g.emit(op, x, kernel_shape=kernel, strides=kernel)
        made: str = x.name
        for axis, (d, w) in enumerate(zip(given, wanted, strict=True)):
            place = x.rank - rank + axis
            parts = []
            for i in range(w):
                begin, end = i * d // w, -(-(i + 1) * d // w)
                cut = g.emit("Slice", made, g.integers(begin), g.integers(end), g.integers(place))
                parts.append(g.emit(reduce, cut, g.integers(place), keepdims=1))
            made = g.emit("Concat", *parts, axis=place)
        return made

    return write


def _first(write: Callable[..., str]) -> Callable[..., list[str | None]]:
    """The values; a program that uses the places of the largest ones is told so."""

    def written(g: GraphBuilder, *operands: Any) -> list[str | None]:
        return [write(g, *operands), None]

    return written


OPERATORS: Operators = {
    "aten.max_pool1d": _max_pool(1),
    "aten.max_pool2d": _max_pool(2),
    "aten.max_pool3d": _max_pool(3),
    "aten.max_pool2d_with_indices": _first(_max_pool(2)),
    "aten.max_pool3d_with_indices": _first(_max_pool(3)),
    "aten.avg_pool1d": _avg_pool(1),
    "aten.avg_pool2d": _avg_pool(2),
    "aten.avg_pool3d": _avg_pool(3),
    "aten.adaptive_avg_pool1d": _adaptive("AveragePool", 1),
    "aten.adaptive_avg_pool2d": _adaptive("AveragePool", 2),
    "aten._adaptive_avg_pool2d": _adaptive("AveragePool", 2),
    "aten.adaptive_max_pool1d": _first(_adaptive("MaxPool", 1)),
    "aten.adaptive_max_pool2d": _first(_adaptive("MaxPool", 2)),
}
