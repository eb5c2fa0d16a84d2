"""Batches of every r-th row and column in TFLite files: SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, and the convolutions with
gaps that converters write with them.

    SPACE_TO_BATCH_ND(2) -> CONV_2D -> BATCH_TO_SPACE_ND(2)   becomes   a convolution with gaps of 2
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.frontend.tflite_hybrid import is_hybrid
from tvm_pulp.frontend.tflite_operators import activated, biased, indices, options_of, real_value, zero_point_of

_CONVOLUTIONS = {"CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions"}
# A line of numbers is a picture of one row while it is convolved.
_TO_PICTURE, _TO_LINE = ("EXPAND_DIMS", "RESHAPE"), ("RESHAPE", "SQUEEZE")


def _blocks(converter: Any, op: Any) -> tuple[Any, list[int], list[int], Any]:
    """Operand and its shape, sizes of blocks, and what is added to or cut off the sides of every axis."""
    data, *given = converter.get_input_tensors(op)
    block, sides = (converter.get_tensor_value(t) for t in given)
    return data, [int(d) for d in converter.get_tensor_shape(data)], [int(b) for b in block], sides


def space_to_batch_nd(converter: Any, _upstream: Callable[..., Any], op: Any) -> Any:
    data, shape, blocks, sides = _blocks(converter, op)
    count = len(blocks)
    pads = np.zeros((len(shape), 2), int)
    pads[1 : 1 + count] = sides
    zero = float(zero_point_of(data)) if data.qnn_params else 0.0
    value = converter.get_tensor_expr(data)
    padded = converter.bb.normalize(relax.op.nn.pad(value, pads.ravel().tolist(), pad_value=zero))
    places = [(shape[1 + i] + int(pads[1 + i].sum())) // b for i, b in enumerate(blocks)]
    apart = [shape[0], *(n for pair in zip(places, blocks, strict=True) for n in pair), *shape[1 + count :]]
    axes = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(1 + 2 * count, len(apart))]
    moved = converter.bb.normalize(relax.op.permute_dims(relax.op.reshape(padded, apart), axes))
    return relax.op.reshape(moved, [shape[0] * math.prod(blocks), *places, *shape[1 + count :]])


def batch_to_space_nd(converter: Any, _upstream: Callable[..., Any], op: Any) -> Any:
    data, shape, blocks, crops = _blocks(converter, op)
    count, value = len(blocks), converter.get_tensor_expr(data)
    batch, places, rest = shape[0] // math.prod(blocks), shape[1 : 1 + count], shape[1 + count :]
    apart = [*blocks, batch, *places, *rest]
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    axes = [count, *pairs, *range(2 * count + 1, len(apart))]
    moved = converter.bb.normalize(relax.op.permute_dims(relax.op.reshape(value, apart), axes))
    sizes = [n * b for n, b in zip(places, blocks, strict=True)]
    whole = converter.bb.normalize(relax.op.reshape(moved, [batch, *sizes, *rest]))
    ends = [n - int(last) for n, (_, last) in zip(sizes, crops, strict=True)]
    return relax.op.strided_slice(whole, list(range(1, 1 + count)), [int(first) for first, _ in crops], ends)


@dataclass(frozen=True)
class Dilated:
    """A convolution between two such operators: where the chain begins and ends, gaps, and pads top, left, bottom and
    right."""

    source: int
    result: int
    gaps: tuple[int, int]
    pads: tuple[int, int, int, int]


class DilatedConvolutions:
    """Those of a graph, by the place of the operator; `others` are the places of the rest of each chain."""

    def __init__(self, converter: Any) -> None:
        self._converter, graph = converter, converter.subgraph
        self._operators = [graph.Operators(i) for i in range(graph.OperatorsLength())]
        self._kinds = [converter.get_op_code_str(op) for op in self._operators]
        self._makers: dict[int, int] = {}
        self._readers: dict[int, list[int]] = defaultdict(list, {t: [-1] for t in indices(graph, "Outputs")})
        for place, op in enumerate(self._operators):
            for t in indices(op, "Inputs"):
                self._readers[t].append(place)
            self._makers.update(dict.fromkeys(indices(op, "Outputs"), place))
        self.found: dict[int, Dilated] = {}
        self.others: set[int] = set()
        for place, kind in enumerate(self._kinds):
            if kind == "BATCH_TO_SPACE_ND":
                self._look(place)

    def _look(self, last: int) -> None:
        chain = [last, *self._before(last)]
        kinds = [self._kinds[p] for p in chain]
        if len(chain) == 5 and kinds[1] in _TO_LINE and kinds[3] in _TO_PICTURE:
            convolution = chain[2]
        elif len(chain) == 3:
            convolution = chain[1]
        else:
            return
        made = self._dilated(chain[-1], convolution, last)
        if made is not None:
            self.found[convolution] = made
            self.others |= {*chain} - {convolution}

    def _before(self, place: int) -> Iterator[int]:
        """Operators of the chain that ends at `place`, backwards to the first; none of their results is read twice."""
        for wanted in ((*_TO_LINE, *_CONVOLUTIONS), (*_CONVOLUTIONS, *_TO_PICTURE, "SPACE_TO_BATCH_ND"), None, None):
            tensor = indices(self._operators[place], "Inputs")[0]
            if tensor not in self._makers or len(self._readers[tensor]) != 1:
                return
            place = self._makers[tensor]
            yield place
            if self._kinds[place] == "SPACE_TO_BATCH_ND" or (wanted and self._kinds[place] not in wanted):
                return

    def _dilated(self, first: int, convolution: int, last: int) -> Dilated | None:
        converter, operators = self._converter, self._operators
        if self._kinds[first] != "SPACE_TO_BATCH_ND" or self._kinds[convolution] not in _CONVOLUTIONS:
            return None
        options = options_of(operators[convolution], _CONVOLUTIONS[self._kinds[convolution]])
        window = (options.StrideH(), options.StrideW(), options.DilationHFactor(), options.DilationWFactor())
        # Ranges at run time are those of a batch.
        if window != (1, 1, 1, 1) or options.Padding() != 1 or is_hybrid(converter, operators[convolution]):
            return None
        tensors = [converter.get_input_tensors(operators[p]) for p in (first, last)]
        (block, pads), (same, crops) = ([converter.known_value(t) for t in given[1:]] for given in tensors)
        if any(a is None for a in (block, pads, same, crops)) or not np.array_equal(block, same):
            return None
        source, (result,) = tensors[0][0], converter.get_output_tensors(operators[last])
        ends = (
            converter.get_input_tensors(operators[convolution])[0],
            converter.get_output_tensors(operators[convolution])[0],
        )
        if not all(_alike(converter, *pair) for pair in zip((source, result), ends, strict=True)):
            return None
        left = pads - crops
        # A line is one row; a block of one axis of a picture is of its rows.
        if source.tensor.ShapeLength() == 3:
            if ends[0].tensor.Shape(1) != 1:
                return None
            block, left = np.array([1, *block]), np.array([[0, 0], *left])
        elif len(block) == 1:
            block, left = np.array([*block, 1]), np.array([*left, [0, 0]])
        if left.min() < 0 or len(block) != 2:
            return None
        sides = int(left[0, 0]), int(left[1, 0]), int(left[0, 1]), int(left[1, 1])
        return Dilated(source.tensor_idx, result.tensor_idx, (int(block[0]), int(block[1])), sides)


def _alike(converter: Any, a: Any, b: Any) -> bool:
    """Tell if two tensors have the same scale and zero point, or none."""
    if a.qnn_params is None or b.qnn_params is None:
        return a.qnn_params is b.qnn_params
    return bool(converter.has_same_qnn_params(a, b))


def dilated_convolution(converter: Any, op: Any, found: Dilated) -> Any:
    """The result of the whole chain."""
    kind = converter.get_op_code_str(op)
    options = options_of(op, _CONVOLUTIONS[kind])
    (data,), (_, weight, *rest) = converter.get_tensors([found.source]), converter.get_input_tensors(op)
    (result,) = converter.get_output_tensors(op)
    shape = [int(d) for d in converter.get_tensor_shape(data)]
    x = converter.bb.normalize(real_value(converter, data))
    if len(shape) == 3:
        x = converter.bb.normalize(relax.op.reshape(x, [shape[0], 1, *shape[1:]]))
    filters, layout, groups = _filters(converter, kind, weight, shape[-1])
    real = relax.op.nn.conv2d(
        x, filters, padding=list(found.pads), dilation=list(found.gaps), groups=groups,
        data_layout="NHWC", kernel_layout=layout,
    )  # fmt: skip
    sums = converter.bb.normalize(biased(converter, real, rest))
    made = converter.bb.normalize(activated(converter, sums, result, options.FusedActivationFunction()))
    if len(shape) == 4:
        return made
    n, _, *line = (int(d) for d in made.ty.shape.values)
    return relax.op.reshape(made, [n, *line])


def _filters(converter: Any, kind: str, weight: Any, channels: int) -> tuple[Any, str, int]:
    """Filters as floats, their layout, and groups."""
    values = np.asarray(converter.get_tensor_value(weight))
    layout, groups, axis = "HWIO", 1, 3
    if kind == "CONV_2D":
        values, groups = values.transpose(1, 2, 3, 0), channels // values.shape[3]
    else:
        _, height, width, filters = values.shape
        layout, groups = ("HWIO" if channels == 1 else "HWOI"), channels
        axis = 3 if channels == 1 else 2
        values = values.reshape((height, width, 1, filters) if channels == 1 else (height, width, filters, 1))
    made = relax.const(np.ascontiguousarray(values))
    if weight.qnn_params:
        made = relax.op.dequantize(made, weight.qnn_params["scale"], weight.qnn_params["zero_point"], axis)
    return converter.bb.normalize(made), layout, groups
