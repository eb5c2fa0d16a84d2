"""Shapes, parts of tensors, tensors from parts, rows by number."""

from collections.abc import Sequence

import numpy as np

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_graph_builder import onnx_type
from tvm_pulp.frontend.stablehlo_program.elementwise import Operators
from tvm_pulp.frontend.stablehlo_program.meanings import gathered, starts
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, constant
from tvm_pulp.frontend.stablehlo_program.placed_values import Placed, PlacedValues


def _transpose(v: PlacedValues, node: StablehloNode) -> Placed:
    """Nothing moves: only the order of the axes is another."""
    (source,), permutation = node.operands, list(node.attributes["permutation"])
    held = v.at(source)
    return Placed(held.name, tuple(permutation.index(a) for a in held.order))


def _reshape(v: PlacedValues, node: StablehloNode) -> Placed:
    (source,) = node.operands
    if source.shape == node.shape:
        return v.at(source)
    # Axes of size one that come or go leave the order of the others.
    kept, wanted = ([a for a, size in enumerate(n.shape) if size > 1] for n in (source, node))
    held = v.at(source).order
    if [source.shape[a] for a in kept] == [node.shape[a] for a in wanted] and held != tuple(range(source.rank)):
        large = [wanted[kept.index(a)] for a in held if a in kept]
        order = tuple(_with_unit_axes(large, node))
        return Placed(v.reshaped(v.at(source).name, [node.shape[a] for a in order]), order)
    return v.place(node, v.reshaped(v.natural(source), node.shape))


def _with_unit_axes(large: list[int], node: StablehloNode) -> list[int]:
    """An order of all axes in which those of size one stand in front."""
    return [*(a for a in range(node.rank) if a not in large), *large]


def _slice(v: PlacedValues, node: StablehloNode) -> Placed:
    (source,), a = node.operands, node.attributes
    order = v.order(source)
    strides = list(a.get("strides") or [1] * node.rank)
    parts = list(zip(a["start_indices"], a["limit_indices"], strides, strict=True))
    cut = [d for d in order if parts[d] != (0, source.shape[d], 1)]
    if not cut:
        return v.at(source)
    firsts, ends, steps = ([parts[d][k] for d in cut] for k in range(3))
    further = [v.g.integers(*steps)] if any(s > 1 for s in steps) else []
    axes = v.g.integers(*(order.index(d) for d in cut))
    made = v.g.emit("Slice", v.ordered(source, order), v.g.integers(*firsts), v.g.integers(*ends), axes, *further)
    return Placed(made, order)


def _concatenate(v: PlacedValues, node: StablehloNode) -> Placed:
    order = v.order(*(o for o in node.operands if o.array is None))
    if any(o.op == "argument" for o in node.operands):
        order = tuple(range(node.rank))  # a cache is joined as it lies
    parts = [v.ordered(o, order) for o in node.operands if 0 not in o.shape]
    return Placed(v.g.joined(parts, order.index(node.attributes["dimension"])), order)


def _pad(v: PlacedValues, node: StablehloNode) -> Placed:
    source, value = node.operands
    a = node.attributes
    refuse_if(any(a["interior_padding"]), f"node '{node.label}' pads between elements: use a transposed convolution")
    order = v.order(source)
    stated = [side[d] for side in (a["edge_padding_low"], a["edge_padding_high"]) for d in order]
    x = v.g.within(v.ordered(source, order), [source.shape[d] for d in order], stated)
    pads = [max(0, p) for p in stated]
    if any(pads):
        x = v.g.emit("Pad", x, v.g.integers(*pads), v.natural(value), mode="constant")
    return Placed(x, order)


def _reverse(v: PlacedValues, node: StablehloNode) -> Placed:
    (source,) = node.operands
    order = v.order(source)
    sizes = {order.index(d): source.shape[d] for d in node.attributes["dimensions"]}
    return Placed(v.g.flipped(v.ordered(source, order), sizes), order)


def _repeat(v: PlacedValues, node: StablehloNode) -> Placed:
    """Nearest neighbours of a larger picture; axes that grow come last."""
    (source,), times = node.operands, node.attributes["times"]
    order = v.order(source)
    grows = [times[a] > 1 for a in order]
    if grows != sorted(grows) or any(grows[:2]):
        order = tuple(sorted(range(node.rank), key=lambda a: times[a] > 1))
    scales = np.array([times[a] for a in order], np.float32)
    modes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return Placed(v.g.emit("Resize", v.ordered(source, order), None, scales, **modes), order)


def _moving_rows(v: PlacedValues, start: StablehloNode, size: int, whole: int) -> str:
    """Numbers of the rows of a dynamic slice, its start moved into the operand as StableHLO says."""
    number = v.g.emit("Cast", v.natural(start), to=onnx_type("int64"))
    low = v.g.emit("Max", number, np.asarray(0, np.int64))
    first = v.g.reshape(v.g.emit("Min", low, np.asarray(whole - size, np.int64)), [1])
    return first if size == 1 else v.g.emit("Add", first, np.arange(size, dtype=np.int64))


def _with_rows(
    v: PlacedValues, node: StablehloNode, x: str, new: str, rows: str, shape: Sequence[int], axis: int, **reduction: str
) -> Placed:
    """A copy with new rows, of this shape, along an axis at computed places."""
    apart = [size if d == axis else 1 for d, size in enumerate(shape)]
    spread = v.g.emit("Expand", v.g.reshape(rows, apart), v.g.integers(*shape))
    return v.place(node, v.g.emit("ScatterElements", x, spread, new, axis=axis, **reduction))


def _dynamic_slice(v: PlacedValues, node: StablehloNode) -> Placed:
    source, *given = node.operands
    sizes = list(node.attributes["slice_sizes"])
    made = v.natural(source)
    for d, (start, size, whole) in enumerate(zip(given, sizes, source.shape, strict=True)):
        if size == whole:
            continue
        if start.array is not None:
            first = min(max(int(start.array), 0), whole - size)
            made = v.g.cut(made, d, first, first + size)
        else:
            made = v.g.emit("Gather", made, _moving_rows(v, start, size, whole), axis=d)
    return v.place(node, made)


def _dynamic_update_slice(v: PlacedValues, node: StablehloNode) -> Placed:
    """A copy with a part replaced; one that moves, by rows along the axis that it moves along."""
    source, part, *given = node.operands
    moving = [d for d, start in enumerate(given) if part.shape[d] != source.shape[d]]
    known = [d for d in moving if given[d].array is not None]
    refuse_if(
        len(moving) > 1 and len(known) != len(moving),
        f"node '{node.label}' writes a part that moves along several axes: write along one after the other",
    )
    if not moving:
        return v.at(part)
    x, new = v.natural(source), v.natural(part)
    if len(known) < len(moving):
        (d,) = moving
        rows = _moving_rows(v, given[d], part.shape[d], source.shape[d])
        return _with_rows(v, node, x, new, rows, part.shape, d)
    window = starts(source, part.shape, [start.array for start in given])
    if len(moving) == 1:
        (d,) = moving
        return v.place(node, v.g.with_part(x, new, d, source.shape[d], window[d].start, window[d].stop))
    places = np.arange(source.size).reshape(source.shape)
    places[window] = places.size + np.arange(part.size).reshape(part.shape)
    both = v.g.emit("Concat", v.g.reshape(x, [-1]), v.g.reshape(new, [-1]), axis=0)
    return v.place(node, v.g.emit("Gather", both, places, axis=0))


def _gather(v: PlacedValues, node: StablehloNode) -> Placed:
    source, indices = node.operands
    a = node.attributes
    sizes, mapped = list(a["slice_sizes"]), list(a["start_index_map"])
    vector = a["index_vector_dim"]
    plain = len(mapped) == 1 and list(a["collapsed_slice_dims"]) == mapped and not a["operand_batching_dims"]
    if plain and all(sizes[d] == source.shape[d] for d in range(source.rank) if d != mapped[0]):
        return _rows(v, node, mapped[0])
    moving = [d for d in mapped if sizes[d] != source.shape[d]]
    if len(mapped) > 1 and len(moving) == 1 and sizes[moving[0]] == 1 and indices.array is None:
        return _some_rows(v, node, moving[0])
    if indices.array is not None and source.array is None:
        flat = np.arange(source.size).reshape(source.shape)
        places = gathered(StablehloNode("gather", (), node.shape, "int64", a), flat, indices.array)
        return v.place(node, v.g.emit("Gather", v.g.reshape(v.natural(source), [-1]), places, axis=0))
    single = all(size == 1 for d, size in enumerate(indices.shape) if d != vector)
    if single and len(mapped) == 1 and not a["operand_batching_dims"]:
        # One slice whose start is computed.
        (axis,) = mapped
        start = StablehloNode("reshape", (indices,), (), indices.dtype, {}, node.label)
        v.values[start] = Placed(v.g.reshape(v.natural(indices), []), ())
        starts = [constant(np.asarray(0)) if d != axis else start for d in range(source.rank)]
        part = StablehloNode(
            "dynamic_slice", (source, *starts), tuple(sizes), node.dtype, {"slice_sizes": sizes}, node.label
        )
        return v.place(node, v.reshaped(_dynamic_slice(v, part).name, node.shape))
    raise UserError(
        f"node '{node.label}' reads elements at computed places along {len(mapped)} axes: read rows along one axis, "
        "jnp.take(x, rows, axis)"
    )


def _some_rows(v: PlacedValues, node: StablehloNode, axis: int) -> Placed:
    """Rows along one axis, where places along others are stated too: there the whole axis is read, from its start."""
    source, indices = node.operands
    a, vector = node.attributes, node.attributes["index_vector_dim"]
    whole = all(size == source.shape[d] for d, size in enumerate(a["slice_sizes"]) if d != axis)
    refuse_if(
        not whole or bool(a["operand_batching_dims"]) or not set(a["collapsed_slice_dims"]) <= {axis},
        f"node '{node.label}' reads parts of rows at computed places: read whole rows, jnp.take(x, rows, axis)",
    )
    place = list(a["start_index_map"]).index(axis)
    shape = tuple(1 if d == vector else s for d, s in enumerate(indices.shape))
    column = StablehloNode("slice", (indices,), shape, indices.dtype, {}, node.label)
    v.values[column] = v.place(column, v.g.cut(v.natural(indices), vector, place, place + 1))
    offsets, sizes = list(a["offset_dims"]), list(node.shape)
    if axis not in a["collapsed_slice_dims"]:
        gone = offsets.pop(axis)
        del sizes[gone]
        offsets = [d - (d > gone) for d in offsets]
    changed = {**a, "start_index_map": [axis], "collapsed_slice_dims": [axis], "offset_dims": offsets}
    rows = StablehloNode("gather", (source, column), tuple(sizes), node.dtype, changed, node.label)
    v.values[rows] = _rows(v, rows, axis)
    return v.place(node, v.reshaped(v.natural(rows), node.shape))


def _rows(v: PlacedValues, node: StablehloNode, axis: int) -> Placed:
    """Rows of a table, whose axes stand where the program wants them."""
    source, indices = node.operands
    a, vector = node.attributes, node.attributes["index_vector_dim"]
    shape = [s for d, s in enumerate(indices.shape) if d != vector]
    if indices.array is not None:
        numbers = np.clip(indices.array.reshape(shape).astype(np.int64), 0, source.shape[axis] - 1)
        rows = v.g.constant(numbers)
    else:
        rows = v.natural(indices) if vector == indices.rank else v.reshaped(v.natural(indices), shape)
    made = v.g.emit("Gather", v.natural(source), rows, axis=axis)
    offsets = list(a["offset_dims"])
    batch = [d for d in range(node.rank) if d not in offsets]
    return v.place(node, made, [*offsets[:axis], *batch, *offsets[axis:]])


def _scatter(v: PlacedValues, node: StablehloNode) -> Placed:
    """`x.at[rows].set(values)` along one axis, or at places that are known."""
    source, indices, part = node.operands
    a = node.attributes
    mapped = list(a["scattered_dims_to_operand_dims"])
    refuse_if(a["reducer"] not in ("", "add"), f"node '{node.label}' scatters by '{a['reducer']}': use .at[...].set")
    window, inserted = list(a["update_window_dims"]), list(a["inserted_window_dims"])
    batch = [d for d in range(part.rank) if d not in window]
    if len(mapped) != 1 or inserted not in ([], mapped) or len(batch) > 1 or a["input_batching_dims"]:
        raise UserError(f"node '{node.label}' writes at computed places along several axes: write rows along one axis")
    axis = mapped[0]
    count = part.shape[batch[0]] if batch else 1
    whole = list(source.shape)
    length = 1 if inserted else part.shape[window[axis]]
    refuse_if(length > 1 and count > 1, f"node '{node.label}' writes several parts at once: write one after the other")
    whole[axis] = count * length
    rest = window if inserted else [d for d in window if d != window[axis]]
    along = batch if inserted else [*batch, window[axis]]
    new = v.reshaped(v.ordered(part, [*rest[:axis], *along, *rest[axis:]]), whole)
    rows = v.reshaped(v.g.emit("Cast", v.natural(indices), to=onnx_type("int64")), [count])
    if length > 1:
        rows = v.g.emit("Add", rows, np.arange(length, dtype=np.int64))
    reduction = {"reduction": "add"} if a["reducer"] == "add" else {}
    return _with_rows(v, node, v.natural(source), new, rows, whole, axis, **reduction)


OPERATORS: Operators = {
    "transpose": _transpose,
    "reshape": _reshape,
    "slice": _slice,
    "concatenate": _concatenate,
    "pad": _pad,
    "repeat": _repeat,
    "reverse": _reverse,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter,
}
