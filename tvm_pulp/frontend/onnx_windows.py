"""Window attributes of ONNX convolution and pooling nodes: strides, dilations, pads."""

from __future__ import annotations

from collections.abc import Sequence

from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.onnx_file import Node


def pairs(node: Node, name: str, one_dimensional: bool) -> list[int]:
    """A per-axis attribute as (height, width)."""
    given = [int(v) for v in node.attributes.get(name, [])]
    if one_dimensional:
        return [1, *(given or [1])]
    return given or [1, 1]


def pads_of(node: Node, size: Sequence[int], kernel: Sequence[int], one_dimensional: bool) -> list[int]:
    """Padding as top, left, bottom, right."""
    auto = node.attributes.get("auto_pad", "NOTSET") or "NOTSET"
    given = [int(v) for v in node.attributes.get("pads", [])]
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        extents = [1, *size] if one_dimensional else list(size)
        strides, dilations = pairs(node, "strides", one_dimensional), pairs(node, "dilations", one_dimensional)
        before, after = [], []
        for s, k, stride, dilation in zip(extents, kernel, strides, dilations, strict=True):
            total = max(0, (-(-s // stride) - 1) * stride + dilation * (k - 1) + 1 - s)
            small, large = total // 2, total - total // 2
            before.append(small if auto == "SAME_UPPER" else large)
            after.append(large if auto == "SAME_UPPER" else small)
        return [*before, *after]
    refuse_if(auto not in ("NOTSET", "VALID"), f"node '{node.name}' ({node.op_type}): auto_pad '{auto}' is unknown")
    if not given:
        return [0, 0, 0, 0]
    if one_dimensional:
        return [0, given[0], 0, given[1]]
    return given
