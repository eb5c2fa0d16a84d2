"""Convolutions and transposed convolutions of one to three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value


def each(given: Any, rank: int, default: int = 1) -> list[int]:
    """One number per spatial axis; PyTorch allows a single one for all."""
    values = [given] if isinstance(given, int) else list(given or [default])
    return values * rank if len(values) == 1 else values


def conv(
    g: GraphBuilder,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> str:
    rank = weight.rank - 2
    window, strides, dilations = list(weight.shape[2:]), each(stride, rank), each(dilation, rank)
    if isinstance(padding, str):
        pads = _same(window, dilations) if padding == "same" else [0] * 2 * rank
    else:
        pads = each(padding, rank, 0) * 2
    attributes = {"kernel_shape": window, "strides": strides, "dilations": dilations, "group": groups}
    return _batched(g, "Conv", x, weight, bias, {**attributes, "pads": pads})


def _same(window: Sequence[int], dilations: Sequence[int]) -> list[int]:
    totals = [d * (k - 1) for k, d in zip(window, dilations, strict=True)]
    return [t // 2 for t in totals] + [t - t // 2 for t in totals]


def conv_transpose(
    g: GraphBuilder,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> str:
    rank = weight.rank - 2
    attributes = {
        "kernel_shape": list(weight.shape[2:]),
        "strides": each(stride, rank),
        "dilations": each(dilation, rank),
        "group": groups,
        "pads": each(padding, rank, 0) * 2,
        "output_padding": each(output_padding, rank, 0),
    }
    return _batched(g, "ConvTranspose", x, weight, bias, attributes)


def _batched(g: GraphBuilder, op: str, x: Value, weight: Value, bias: Value | None, attributes: dict[str, Any]) -> str:
    """The node, around it a batch of one where the operand has none."""
    if x.rank == weight.rank:
        return g.emit(op, x, weight, bias, **attributes)
    assert g.result is not None
    made = g.emit(op, g.reshape(x, [1, *x.shape]), weight, bias, **attributes)
    return g.reshape(made, g.result.shape)


def convolution(
    g: GraphBuilder,
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    is_transposed: bool,
    output_padding: Any,
    groups: int,
) -> str:
    if is_transposed:
        return conv_transpose(g, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv(g, x, weight, bias, stride, padding, dilation, groups)


OPERATORS: Operators = {
    **{f"aten.conv{n}d{kind}": conv for n in (1, 2, 3) for kind in ("", ".padding")},
    "aten.conv_transpose1d": conv_transpose,
    "aten.conv_transpose2d.input": conv_transpose,
    "aten.conv_transpose3d.input": conv_transpose,
    "aten.convolution": convolution,
}
