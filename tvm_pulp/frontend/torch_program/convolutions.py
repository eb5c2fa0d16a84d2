"""Convolutions and transposed convolutions of one to three dimensions."""

from __future__ import annotations

from typing import Any

from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value, numbers
from tvm_pulp.frontend.windows import same_pads


def each(given: Any, rank: int, default: int = 1) -> list[int]:
    """One number per spatial axis; PyTorch allows a single one for all."""
    values = numbers(given) or [default]
    return values * rank if len(values) == 1 else values


def convolution(
    g: GraphBuilder, x: Value, weight: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any, *rest: Any
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


OPERATORS: Operators = {
    **{f"aten.conv{n}d{kind}": conv for n in (1, 2, 3) for kind in ("", ".padding")},
    "aten.conv_transpose1d": conv_transpose,
    "aten.conv_transpose2d.input": conv_transpose,
    "aten.conv_transpose3d.input": conv_transpose,
    "aten.convolution": convolution,
}
