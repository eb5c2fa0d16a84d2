"""Dilated convolutions that TensorFlow writes as plain ones: every r-th row in a batch of its own, and back.

What moves between the input, the batches and the result is followed number by number, so that a group is taken for a
dilated convolution only where all of its elements are read and written as that does.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tvm_pulp.frontend.stablehlo_program.meanings import evaluated
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, become
from tvm_pulp.window import Window

_MOVES = ("reshape", "transpose", "slice", "copy", "pad")
# Of numbers that are followed.
_LARGEST = 1 << 22


def dilated(node: StablehloNode, readers: Counter[StablehloNode]) -> bool:
    """Make the last node behind such a convolution a view of a dilated one."""
    after = _moves(node, readers)
    layer = after[-1].operands[0] if after else node
    if layer.op != "convolution":
        return False
    before = _moves(layer.operands[0], readers)
    a = layer.attributes
    spatial = list(a["input_spatial_dimensions"])
    last = layer.rank - 1
    plain = a["input_batch_dimension"] == a["output_batch_dimension"] == 0 and spatial == list(range(1, last))
    plain &= a["input_feature_dimension"] == a["output_feature_dimension"] == last
    plain &= list(a["output_spatial_dimensions"]) == spatial
    ones = [*_numbers(a, "window_strides"), *_numbers(a, "lhs_dilation"), *_numbers(a, "rhs_dilation")]
    # With one batch it is padding that stands in front of other moves.
    if (
        not any(n.op in ("pad", "transpose") for n in before)
        or not plain
        or any(n != 1 for n in ones)
        or any(_numbers(a, "padding"))
    ):
        return False
    source = before[-1].operands[0]
    if source.shape[0] != 1 or node.shape[0] != 1 or max(source.size, layer.size, node.size) > _LARGEST:
        return False
    found = _as_dilated(source, before, layer, after)
    if found is None:
        return False
    shape, wide, padding, rates = found
    pictures = StablehloNode("reshape", (source,), (1, *shape, source.shape[-1]), source.dtype)
    attributes = {**a, "padding": np.array(padding), "rhs_dilation": rates}
    whole = (1, *wide, node.shape[-1])
    made = StablehloNode(layer.op, (pictures, *layer.operands[1:]), whole, node.dtype, attributes, layer.label)
    readers.update([made, pictures])
    return become(node, "reshape", [made])


def cropped(node: StablehloNode, readers: Counter[StablehloNode]) -> bool:
    """Rows that are cut off the result of a convolution are not computed, where they stand for padding alone."""
    view, a = node.operands[0], node.attributes
    layer = view.operands[0] if view.op == "reshape" and readers[view] == 1 else view
    if layer.op != "convolution" or readers[layer] != 1 or any(s != 1 for s in a["strides"]):
        return False
    ours, theirs = ([d for d, size in enumerate(n.shape) if size > 1] for n in (view, layer))
    stated = layer.attributes
    if [view.shape[d] for d in ours] != [layer.shape[d] for d in theirs] or "padding" not in stated:
        return False
    if any(n != 1 for n in _numbers(stated, "window_strides")):
        return False
    padding, shape = np.array(stated["padding"]).reshape(-1, 2), list(layer.shape)
    spatial = list(stated["output_spatial_dimensions"])
    for place, (first, last) in enumerate(zip(a["start_indices"], a["limit_indices"], strict=True)):
        cut = (first, view.shape[place] - last)
        if any(cut):
            axis = theirs[ours.index(place)]
            if axis not in spatial:
                return False
            padding[spatial.index(axis)] -= cut
            shape[axis] = last - first
    if padding.min() < 0:
        return False
    attributes = {**stated, "padding": padding}
    made = StablehloNode(layer.op, layer.operands, tuple(shape), layer.dtype, attributes, layer.label)
    readers[made] += 1
    return become(node, "reshape", [made])


def _numbers(attributes: dict[str, object], key: str) -> list[int]:
    held = attributes.get(key)
    return [] if held is None else [int(n) for n in np.asarray(held).reshape(-1)]


def _moves(node: StablehloNode, readers: Counter[StablehloNode]) -> list[StablehloNode]:
    """Nodes that only move elements, from this one on to its operands; padding is with zeros."""
    found = []
    while node.op in _MOVES and readers[node] == 1:
        if node.op == "pad" and (node.operands[1].scalar is None or float(node.operands[1].scalar) != 0):
            break
        found.append(node)
        node = node.operands[0]
    return found


def _followed(numbers: np.ndarray, moves: list[StablehloNode]) -> np.ndarray | None:
    for move in reversed(moves):
        held = evaluated(
            StablehloNode(move.op, (), move.shape, "int64", move.attributes),
            [numbers, np.zeros((), np.int64)] if move.op == "pad" else [numbers],
        )
        if held is None:
            return None
        numbers = held
    return numbers


def _spread(sizes: Sequence[int], shape: Sequence[int]) -> list[int] | None:
    """Sizes of a picture's axes; where it has fewer than the convolution, those along which that has one are one."""
    if len(sizes) == len(shape):
        return list(sizes)
    large = [size for size in sizes if size > 1]
    missing, rest = len(shape) - len(large), iter(large)
    made = [1 if missing and size == 1 else next(rest, 0) for size in shape]
    return made if math.prod(made) == math.prod(sizes) else None


Dilated = tuple[list[int], list[int], list[tuple[int, int]], list[int]]


def _as_dilated(
    source: StablehloNode, before: list[StablehloNode], layer: StablehloNode, after: list[StablehloNode]
) -> Dilated | None:
    """Sizes of picture and result, padding and rates, where every element is where a dilated convolution has it."""
    # Zero is padding.
    read = _followed(np.arange(1, source.size + 1).reshape(source.shape), before)
    written = _followed(np.arange(layer.size).reshape(layer.shape), after)
    if read is None or written is None:
        return None
    count, channels = layer.rank - 2, source.shape[-1]
    inner = layer.operands[0].shape
    # An axis that is not dilated is as long in the batches as before.
    shape = _spread(source.shape[1:-1], inner[1:-1])
    if shape is None or inner[-1] != channels:
        return None
    places = np.stack(np.unravel_index(np.maximum(read - 1, 0), (*shape, channels)), -1)
    starts, rates = np.zeros((inner[0], count), np.int64), [1] * count
    for d in range(count):
        numbers, at = (np.moveaxis(a, 1 + d, 0) for a in (read, places[..., d]))
        moved = np.diff(at, axis=0)[np.minimum(numbers[1:], numbers[:-1]) > 0]
        if moved.size:
            rates[d] = int(moved[0])
        steps = np.arange(inner[1 + d]).reshape([-1 if k == 1 + d else 1 for k in range(layer.rank)])
        first = np.where(read > 0, places[..., d] - rates[d] * steps, -1 << 40)
        starts[:, d] = first.reshape(inner[0], -1).max(axis=1)
    if min(rates) < 1 or _expected(starts, rates, inner, shape, channels).tobytes() != read.tobytes():
        return None
    return _padding(written, layer, starts, rates, shape, after[0].shape[1:-1])


def _expected(
    starts: np.ndarray, rates: list[int], inner: tuple[int, ...], shape: list[int], channels: int
) -> np.ndarray:
    """Numbers of the picture in the batches, were they every r-th row from these starts on."""
    flat = np.zeros(inner[:-1], np.int64)
    outside = np.zeros(inner[:-1], bool)
    for d, rate in enumerate(rates):
        axes = [1] * (len(inner) - 1)
        axes[0], axes[1 + d] = inner[0], inner[1 + d]
        at = (starts[:, d][:, None] + rate * np.arange(inner[1 + d])).reshape(axes)
        flat, outside = flat * shape[d] + at, outside | (at < 0) | (at >= shape[d])
    numbers = flat[..., None] * channels + np.arange(channels) + 1
    return np.where(outside[..., None], 0, numbers)


def _padding(
    written: np.ndarray,
    layer: StablehloNode,
    starts: np.ndarray,
    rates: list[int],
    shape: list[int],
    sizes: Sequence[int],
) -> Dilated | None:
    """The padding with which a dilated convolution has each result where it is written."""
    wide = _spread(sizes, shape)
    if wide is None or written.shape[-1] != layer.shape[-1]:
        return None
    places = np.unravel_index(written.reshape(*wide, -1), layer.shape)
    if np.any(places[-1] != np.arange(layer.shape[-1])):
        return None
    a, padding = layer.attributes, []
    for d, (rate, size) in enumerate(zip(rates, wide, strict=True)):
        begin = starts[:, d][places[0]] + rate * places[1 + d]
        low = -int(begin.reshape(-1)[0])
        steps = np.arange(size).reshape([-1 if k == d else 1 for k in range(len(wide) + 1)])
        kernel = layer.operands[1].shape[a["kernel_spatial_dimensions"][d]]
        high = Window(kernel, dilation=rate, before=low).padding_after(size, shape[d])
        if np.any(begin != steps - low) or low < 0 or high < 0:
            return None
        padding.append((low, high))
    return shape, wide, padding, rates
