"""Operators that say together what a layer is: means, softmax, pooling, and weights with what is added behind them.

Nodes are rewritten in place, from the inputs on; what they were made of dies where nothing else reads it.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.frontend.stablehlo_program.dilated_convolutions import cropped, dilated
from tvm_pulp.frontend.stablehlo_program.meanings import starts
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, become, closure, compact, constant


def rewrite(outputs: Sequence[StablehloNode]) -> None:
    """All rewrites of a program."""
    nodes = closure(outputs)
    readers = Counter(o for node in nodes for o in node.operands) + Counter(outputs)
    scaled = _scaled_to_round(nodes)
    for node in nodes:
        if node.array is None:
            for rule in _RULES.get(node.op, ()) if node not in scaled else ():
                if rule(node, readers):
                    break


Readers = Counter[StablehloNode]


def _scaled_to_round(nodes: Sequence[StablehloNode]) -> set[StablehloNode]:
    """Quotients that are rounded: they quantize, and belong to no layer before them."""
    found = set()
    for node in nodes:
        if node.op == "round_nearest_even":
            (inner,) = node.operands
            while inner.op in ("clamp", "maximum", "minimum"):
                inner = next((o for o in inner.operands if o.array is None), inner.operands[0])
            found |= {inner} if inner.op in ("divide", "multiply") else set()
    return found


def unspread(node: StablehloNode) -> StablehloNode:
    """The value that a chain of broadcasts and reshapes that only add axes of size one spreads."""
    while node.op == "broadcast_in_dim" or (
        node.op == "reshape" and [d for d in node.shape if d > 1] == [d for d in node.operands[0].shape if d > 1]
    ):
        node = node.operands[0]
    return node


def _close(given: object, wanted: float) -> bool:
    return given is not None and math.isclose(float(given), wanted, rel_tol=1e-6)  # type: ignore[arg-type]


def _mean(node: StablehloNode, readers: Readers) -> bool:
    """A sum, divided by the number of its terms."""
    total, count = node.operands
    if total.op != "reduce" or total.attributes["reducer"] != "add" or not node.is_float:
        return False
    if len(total.operands) != 2 or not _is_zero(total.operands[1]):
        return False
    source, axes = total.operands[0], total.attributes["dimensions"]
    terms = math.prod(source.shape[a] for a in axes)
    wanted = float(terms) if node.op == "divide" else 1 / max(terms, 1)
    return _close(count.scalar, wanted) and become(node, "mean", [source], dimensions=axes)


def _is_zero(node: StablehloNode) -> bool:
    return node.scalar is not None and float(node.scalar) == 0


def _average_pool(node: StablehloNode, readers: Readers) -> bool:
    """Sums of windows, divided by how many values each one holds."""
    total, count = node.operands
    if total.op != "reduce_window" or total.attributes["reducer"] != "add" or node.op != "divide":
        return False
    source = total.operands[0]
    size = math.prod(total.attributes["window_dimensions"])
    if _close(count.scalar, size):
        return become(node, "average_pool", [source], **total.attributes, counts_padding=1)
    # Counts are the same for all samples and channels: frameworks count once and spread.
    if count.op == "broadcast_in_dim" and list(count.attributes["broadcast_dimensions"]) == list(range(node.rank)):
        count = count.operands[0]
    ones = count.operands[0] if count.op == "reduce_window" else None
    if ones is None or not _close(ones.scalar, 1.0) or not _slide_alike(count, total):
        return False
    return become(node, "average_pool", [source], **total.attributes, counts_padding=0)


def _slide_alike(count: StablehloNode, total: StablehloNode) -> bool:
    """Tell if windows of both are the same, where axes without windows may have size one in the first."""
    kinds, others = count.attributes, total.attributes
    if kinds.keys() != others.keys() or not all(np.array_equal(kinds[k], others[k]) for k in kinds):
        return False
    sizes = zip(count.operands[0].shape, total.operands[0].shape, others["window_dimensions"], strict=True)
    return all(ones == values or (ones == 1 and window == 1) for ones, values, window in sizes)


def _softmax(node: StablehloNode, readers: Readers) -> bool:
    """exp(x - max x) divided by its sum; without the largest, it is the same function."""
    top, total = node.operands[0], unspread(node.operands[1])
    if top.op != "exponential" or not _is_sum_of(total, top):
        return False
    (axis,) = total.attributes["dimensions"]
    return become(node, "softmax", [_without_largest(top.operands[0], axis)], axis=axis)


def _log_softmax(node: StablehloNode, readers: Readers) -> bool:
    """x - log sum exp x."""
    shifted, logarithm = node.operands[0], unspread(node.operands[1])
    total = unspread(logarithm.operands[0]) if logarithm.op == "log" else logarithm
    if total.op != "reduce" or total.operands[0].op != "exponential":
        return False
    if not _is_sum_of(total, total.operands[0]) or total.operands[0].operands[0] is not shifted:
        return False
    (axis,) = total.attributes["dimensions"]
    return become(node, "log_softmax", [_without_largest(shifted, axis)], axis=axis)


def _is_sum_of(total: StablehloNode, x: StablehloNode) -> bool:
    if total.op != "reduce" or total.attributes["reducer"] != "add" or total.operands[0] is not x:
        return False
    return len(total.attributes["dimensions"]) == 1 and _is_zero(total.operands[1])


def _without_largest(x: StablehloNode, axis: int) -> StablehloNode:
    """The operand of a difference to something that is the same along an axis: softmax does not see that."""
    if x.op != "subtract" or not _same_along(x.operands[1], axis):
        return x
    return x.operands[0]


def _same_along(node: StablehloNode, axis: int) -> bool:
    if node.op != "broadcast_in_dim":
        return False
    places = list(node.attributes["broadcast_dimensions"])
    return axis not in places or node.operands[0].shape[places.index(axis)] == 1


def _padded(node: StablehloNode, readers: Readers) -> bool:
    """Zeros around the input of a convolution are its padding."""
    (inner, *rest), a = node.operands, node.attributes
    if inner.op != "pad" or not _is_zero(inner.operands[1]) or any(inner.attributes["interior_padding"]):
        return False
    if any(d != 1 for d in a.get("lhs_dilation", [])):
        return False
    low, high = inner.attributes["edge_padding_low"], inner.attributes["edge_padding_high"]
    spatial = a["input_spatial_dimensions"]
    if min(*low, *high) < 0 or any(low[d] or high[d] for d in range(inner.rank) if d not in spatial):
        return False
    held = a.get("padding")
    own = np.zeros((len(spatial), 2), np.int64) if held is None else np.asarray(held).reshape(-1, 2)
    added = np.array([(low[d], high[d]) for d in spatial])
    return become(node, node.op, [inner.operands[0], *rest], **{**a, "padding": own + added})


def _repeat(node: StablehloNode, readers: Readers) -> bool:
    """Every element several times in a row along an axis, as broadcasting and reshaping write it."""
    (spread,) = node.operands
    if spread.op != "broadcast_in_dim" or spread.rank != node.rank + 1:
        return False
    source, places = spread.operands[0], list(spread.attributes["broadcast_dimensions"])
    if source.op in ("broadcast_in_dim", "reshape") and source.rank == spread.rank:  # an axis of size one for it
        kept = [p for p in places if source.shape[p] == spread.shape[p]]
        source, places = (source.operands[0], kept) if source.operands[0].rank == node.rank else (source, places)
    (added, *others) = [d for d in range(spread.rank) if d not in places] or [0, 0]
    if others or not added or list(source.shape) != [spread.shape[p] for p in places]:
        return False
    axis, times = added - 1, [1] * node.rank
    times[axis] = spread.shape[added]
    if node.shape[axis] != source.shape[axis] * times[axis] or source.rank != node.rank:
        return False
    if source.op == "repeat":
        times = [a * b for a, b in zip(times, source.attributes["times"], strict=True)]
        source = source.operands[0]
    return become(node, "repeat", [source], times=times)


def _affine(node: StablehloNode, readers: Readers) -> bool:
    """A factor or an addend per feature behind a layer with weights becomes part of them."""
    first, second = node.operands
    if first.array is not None and node.op in ("add", "multiply"):
        first, second = second, first
    layer = _layer_of(first, readers)
    if second.array is None or layer is None or not node.is_float:
        return False
    weight = layer.operands[1]
    if weight.array is None or weight.dtype != node.dtype:
        return False
    features = feature_axes(layer)
    shape = [layer.shape[a] for a in features]
    # Of a view, the last axis is the layer's.
    axes = features if layer is first else [node.rank - 1]
    held = compact(second.array)
    if any(held.shape[a] > 1 for a in range(node.rank) if a not in axes):
        return False
    given = np.broadcast_to(held.reshape([held.shape[a] for a in axes]), shape)
    bias = layer.operands[2].array if len(layer.operands) > 2 else np.zeros(shape, node.dtype)
    assert bias is not None
    values = weight.array
    if node.op in ("add", "subtract"):
        bias = bias + given if node.op == "add" else bias - given
    else:
        factor = given if node.op == "multiply" else 1 / given
        spread = [1] * weight.rank
        for size, axis in zip(shape, weight_features(layer), strict=True):
            spread[axis] = size
        values, bias = values * factor.reshape(spread), bias * factor
    scaled = constant(values.astype(weight.dtype, copy=False), weight.label)
    operands = (layer.operands[0], scaled, constant(bias.astype(node.dtype)))
    if layer is first:
        become(node, layer.op, operands, **layer.attributes)
        node.label = layer.label
    else:
        made = StablehloNode(layer.op, operands, layer.shape, layer.dtype, layer.attributes, layer.label)
        readers[made] = 1
        become(node, "reshape", [made])
    return True


def _layer_of(node: StablehloNode, readers: Readers) -> StablehloNode | None:
    """The layer with weights that a node is, or is a view of: the same numbers with its features last."""
    layer = node
    while readers[layer] == 1 and (layer.op in ("reshape", "copy") or is_whole(layer)):
        layer = layer.operands[0]
    if layer.op not in ("convolution", "dot_general") or readers[layer] > 1:
        return None
    if layer is node:
        return layer
    is_last = node.rank > 0 and feature_axes(layer) == [layer.rank - 1] and node.shape[-1] == layer.shape[-1]
    return layer if is_last else None


def is_whole(node: StablehloNode) -> bool:
    """Tell if a node cuts nothing off its operand, or turns nothing."""
    if node.op == "transpose":
        return list(node.attributes["permutation"]) == list(range(node.rank))
    return node.op == "slice" and node.shape == node.operands[0].shape


def feature_axes(node: StablehloNode) -> list[int]:
    """Axes of a layer's result that belong to its weights alone."""
    if node.op == "convolution":
        return [node.attributes["output_feature_dimension"]]
    return list(range(node.rank - len(weight_features(node)), node.rank))


def weight_features(node: StablehloNode) -> list[int]:
    """The same axes, of the weights."""
    a, weight = node.attributes, node.operands[1]
    if node.op == "convolution":
        return [a["kernel_output_feature_dimension"]]
    bound = {*a["rhs_batching_dimensions"], *a["rhs_contracting_dimensions"]}
    return [d for d in range(weight.rank) if d not in bound]


def _weights_second(node: StablehloNode, readers: Readers) -> bool:
    """W x as x W: weights are the second operand of a product."""
    weight, x = node.operands[:2]
    a = node.attributes
    if weight.array is None or x.array is not None or a["lhs_batching_dimensions"]:
        return False
    turned = with_sides_swapped(a)
    rows, columns = (n.rank - len(a[f"{s}_contracting_dimensions"]) for n, s in ((weight, "lhs"), (x, "rhs")))
    if not rows or not columns:
        return become(node, "dot_general", [x, weight], **turned)
    shape = (*node.shape[rows:], *node.shape[:rows])
    inner = StablehloNode("dot_general", (x, weight), shape, node.dtype, turned, node.label)
    order = [*range(columns, node.rank), *range(columns)]
    return become(node, "transpose", [inner], permutation=order)


def with_sides_swapped(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes of the same product with its operands the other way round."""
    other = {"lhs": "rhs", "rhs": "lhs"}
    return {f"{other[key[:3]]}{key[3:]}": value for key, value in attributes.items() if key[:3] in other}


def _filled_rows(node: StablehloNode, readers: Readers) -> bool:
    """Rows that JAX fills with NaN where a number is out of range: a table is read within its range here."""
    _, rows, fill = node.operands
    is_nan = fill.scalar is not None and fill.is_float and bool(np.isnan(fill.scalar))
    return is_nan and unspread(rows).op == "gather" and become(node, "copy", [rows])


def _wrapped_numbers(node: StablehloNode, readers: Readers) -> bool:
    """Negative numbers of rows count from the end for ONNX, too."""
    rows, numbers = node.operands[0], node.operands[1]
    inner = numbers
    while inner.op in ("broadcast_in_dim", "reshape", "convert") and inner.operands[0].op != "argument":
        inner = inner.operands[0]
    if inner.op != "select" or len(node.attributes["start_index_map"]) != 1:
        return False
    condition, wrapped, plain = inner.operands
    size = rows.shape[node.attributes["start_index_map"][0]]
    is_negative = condition.op == "compare" and condition.attributes["comparison_direction"] == "LT"
    if not is_negative or condition.operands[0] is not plain or not _is_zero(condition.operands[1]):
        return False
    if wrapped.op != "add" or wrapped.operands[0] is not plain or not _close(wrapped.operands[1].scalar, size):
        return False
    return become(inner, "copy", [plain])


def _known_slice(node: StablehloNode, readers: Readers) -> bool:
    """A part at a place that is known, as loops that are written out have it."""
    x, *given = node.operands
    if any(g.array is None for g in given):
        return False
    places = starts(x, node.attributes["slice_sizes"], [int(np.asarray(g.array)) for g in given])
    limits = [p.stop for p in places]
    become(node, "slice", [x], start_indices=[p.start for p in places], limit_indices=limits, strides=[1] * x.rank)
    _updated_part(node, readers)
    return True


def _updated_part(node: StablehloNode, readers: Readers) -> bool:
    """A part of a tensor that was updated elsewhere, or exactly there: what a loop collects, one by one."""
    a = node.attributes
    if any(s != 1 for s in a["strides"]):
        return False
    wanted = [slice(*ends) for ends in zip(a["start_indices"], a["limit_indices"], strict=True)]
    x = node.operands[0]
    if x.op == "transpose" and x.operands[0].op == "dynamic_update_slice":
        order, inner = list(x.attributes["permutation"]), x.operands[0]
        cut = {key: [a[key][order.index(d)] for d in range(x.rank)] for key in a}
        part = StablehloNode(
            "slice", (inner,), tuple(node.shape[order.index(d)] for d in range(x.rank)), node.dtype, cut
        )
        return _updated_part(part, readers) and become(node, "transpose", [part], permutation=order)
    while x.op == "dynamic_update_slice" and all(g.array is not None for g in x.operands[2:]):
        target, part, *given = x.operands
        places = starts(target, part.shape, [int(np.asarray(g.array)) for g in given])
        if list(places) == wanted:
            return become(node, "copy", [part])
        if not any(w.stop <= p.start or p.stop <= w.start for w, p in zip(wanted, places, strict=True)):
            break
        x = target
    return x is not node.operands[0] and become(node, "slice", [x], **a)


def _relu(node: StablehloNode, readers: Readers) -> bool:
    x = next((o for o, other in (node.operands, node.operands[::-1]) if node.is_float and _is_zero(other)), None)
    return x is not None and become(node, "relu", [x])


def _square(node: StablehloNode, readers: Readers) -> bool:
    return _close(node.operands[1].scalar, 2.0) and become(node, "square", node.operands[:1])


_RULES = {
    "divide": (_mean, _average_pool, _softmax, _affine),
    "multiply": (_mean, _affine),
    "add": (_affine,),
    "subtract": (_log_softmax, _affine),
    "convolution": (_padded,),
    "dot_general": (_weights_second,),
    "reshape": (_repeat, dilated),
    "select": (_filled_rows,),
    "gather": (_wrapped_numbers,),
    "maximum": (_relu,),
    "power": (_square,),
    "dynamic_slice": (_known_slice,),
    "slice": (_updated_part, dilated, cropped),
}
