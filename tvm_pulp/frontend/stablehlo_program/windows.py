"""Windows that move over images and sequences: convolutions, transposed ones, pooling."""

from typing import Any

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_graph_builder import onnx_type
from tvm_pulp.frontend.stablehlo_program.elementwise import Operators
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode
from tvm_pulp.frontend.stablehlo_program.placed_values import Placed, PlacedValues
from tvm_pulp.window import Window


def _pads(attributes: dict[str, Any], count: int) -> tuple[list[int], list[int]]:
    """Padding before and after each axis; none where nothing is stated."""
    stated = attributes.get("padding")
    pairs = np.zeros((count, 2), int) if stated is None else np.asarray(stated).reshape(count, 2)
    return [int(p) for p in pairs[:, 0]], [int(p) for p in pairs[:, 1]]


def _kernel(v: PlacedValues, node: StablehloNode, order: list[int], flipped: list[int]) -> Any:
    weight = node.operands[1]
    if weight.array is None:
        refuse_if(flipped, f"node '{node.label}' turns a kernel that is computed: pass it turned")
        return v.ordered(weight, order)
    turned = weight.array.transpose(order)
    return np.ascontiguousarray(np.flip(turned, tuple(flipped)) if flipped else turned)


def convolution(v: PlacedValues, node: StablehloNode) -> Placed:
    a, (source, weight, *bias) = node.attributes, node.operands
    spatial = list(a["input_spatial_dimensions"])
    rank = len(spatial)
    refuse_if(a.get("batch_group_count", 1) != 1, f"node '{node.label}' groups its batch: only gradients do that")
    ones = [1] * rank
    strides, dilations, spread = (list(a.get(key, ones)) for key in ("window_strides", "rhs_dilation", "lhs_dilation"))
    before, after = _pads(a, rank)
    x = v.ordered(source, [a["input_batch_dimension"], a["input_feature_dimension"], *spatial])
    window = [weight.shape[d] for d in a["kernel_spatial_dimensions"]]
    reversal = [d for d, turned in enumerate(a.get("window_reversal", [False] * rank)) if turned]
    features = [a["kernel_output_feature_dimension"], a["kernel_input_feature_dimension"]]
    groups = a.get("feature_group_count", 1)
    shared = {"kernel_shape": window, "dilations": dilations, "group": groups}
    held = [b.array for b in bias]
    if any(s > 1 for s in spread):
        refuse_if(groups != 1, f"node '{node.label}' is a transposed convolution in groups: split it into one each")
        refuse_if(strides != ones, f"node '{node.label}' strides and spreads its input at once: do one after the other")
        # The same sums, seen from the input: kernels turned round, padding counted from the full overlap.
        turned = [2 + d for d in range(rank) if d not in reversal]
        kernel = _kernel(v, node, [*features[::-1], *a["kernel_spatial_dimensions"]], turned)
        lows, highs = (
            [Window(w, dilation=d).reach - p for d, w, p in zip(dilations, window, side, strict=True)]
            for side in (before, after)
        )
        extra = [max(0, -h) for h in highs]
        refuse_if(
            any(low < 0 for low in lows) or any(e >= s for e, s in zip(extra, spread, strict=True) if e),
            f"node '{node.label}' is a transposed convolution with more padding than its kernel covers: pad its result",
        )
        made = v.g.emit(
            *("ConvTranspose", *v.in_type_of(node, x, kernel), *held),
            **shared,
            strides=spread,
            pads=[*lows, *(max(0, h) for h in highs)],
            output_padding=extra,
        )
    else:
        kernel = _kernel(v, node, [*features, *a["kernel_spatial_dimensions"]], [2 + d for d in reversal])
        x = v.g.within(x, [source.shape[d] for d in spatial], [*before, *after], 2)
        places = {**shared, "strides": strides, "pads": [max(0, p) for p in (*before, *after)]}
        if not held and weight.array is not None and rank < 3 and {source.dtype, weight.dtype} <= {"int8", "uint8"}:
            made = v.g.emit("ConvInteger", x, kernel, **places)
            made = made if node.dtype == "int32" else v.g.emit("Cast", made, to=onnx_type(node.dtype))
        else:
            made = v.g.emit("Conv", *v.in_type_of(node, x, kernel), *held, **places)
    order = [a["output_batch_dimension"], a["output_feature_dimension"], *a["output_spatial_dimensions"]]
    return v.place(node, made, order)


def _pool(v: PlacedValues, node: StablehloNode, op: str, **attributes: Any) -> Placed:
    """A pooling node: axes along which nothing moves come first, and those before the last two of them are one."""
    a, source = node.attributes, node.operands[0]
    window, ones = list(a["window_dimensions"]), [1] * node.rank
    strides, dilations = (list(a.get(key, ones)) for key in ("window_strides", "window_dilations"))
    before, after = _pads(a, node.rank)
    if any(d != 1 for d in a.get("base_dilations", ones)):
        raise UserError(f"node '{node.label}' spreads its input before it pools: pool as it is")
    moves = [d for d in range(node.rank) if window[d] > 1 or strides[d] > 1 or before[d] or after[d]]
    if not moves:
        return v.at(source)
    still = [d for d in range(node.rank) if d not in moves]
    order = [*still, *moves]
    outer = [source.shape[d] for d in still]
    x = v.ordered(source, order)
    if len(still) != 2:
        lone = [1, int(np.prod(outer, dtype=int))]
        x = v.reshaped(x, [*lone, *(source.shape[d] for d in moves)])
    made = v.g.emit(
        op,
        x,
        kernel_shape=[window[d] for d in moves],
        strides=[strides[d] for d in moves],
        pads=[side[d] for side in (before, after) for d in moves],
        **({"dilations": [dilations[d] for d in moves]} if any(dilations[d] > 1 for d in moves) else {}),
        **attributes,
    )
    if len(still) != 2:
        made = v.reshaped(made, [*outer, *(node.shape[d] for d in moves)])
    return v.place(node, made, order)


def reduce_window(v: PlacedValues, node: StablehloNode) -> Placed:
    a, kind = node.attributes, node.attributes["reducer"]
    if kind == "maximum":
        return _pool(v, node, "MaxPool")
    if kind == "add":
        summed = _running_sum(v, node)
        if summed is not None:
            return summed
        mean = _pool(v, node, "AveragePool", count_include_pad=1)
        count = np.asarray(np.prod(a["window_dimensions"]), node.dtype)
        return Placed(v.g.emit("Mul", mean.name, count), mean.order)
    raise UserError(f"node '{node.label}' reduces windows by '{kind}': use a maximum, a mean or a sum")


def _running_sum(v: PlacedValues, node: StablehloNode) -> Placed | None:
    """A sum over everything before, as JAX writes cumsum."""
    a, source = node.attributes, node.operands[0]
    before, after = _pads(a, node.rank)
    long = [d for d, w in enumerate(a["window_dimensions"]) if w > 1]
    if len(long) != 1 or any(s != 1 for s in a.get("window_strides", [])):
        return None
    (axis,) = long
    size = source.shape[axis]
    if (
        a["window_dimensions"][axis] != size
        or sum(before) + sum(after) != size - 1
        or size - 1 not in (before[axis], after[axis])
    ):
        return None
    made = v.g.emit("CumSum", v.natural(source), np.asarray(axis, np.int64), reverse=int(after[axis] > 0))
    return v.place(node, made)


OPERATORS: Operators = {
    "convolution": convolution,
    "reduce_window": reduce_window,
    "average_pool": lambda v, node: _pool(v, node, "AveragePool", count_include_pad=node.attributes["counts_padding"]),
}
