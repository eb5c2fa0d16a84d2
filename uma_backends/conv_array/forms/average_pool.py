"""Averages over small windows as depthwise convolutions with ones: the array adds and multiplies, the cores round.

Where padding does not count, windows at the border have fewer values: the array only adds, and the cores round borders
and inside each by their own numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import numpy as np

from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.exact_shift import exact_shift
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.pool import AvgPoolAttributes, PoolAttributes
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.qnn.window_attributes import windows
from tvm_pulp.uma import (
    EXACT,
    Box,
    Form,
    Kernel,
    Load,
    Local,
    Recipe,
    Step,
    Store,
    TileAxis,
    refuse_if,
    step_call,
)
from uma_backends.conv_array.forms.array_form import ArrayContext, ArrayForm, JobForm
from uma_backends.conv_array.forms.strategy import conv2d_forms

# Rows and columns of the array's depthwise kernel.
_KERNEL = 3


def average_pool_strategy(layer: Layer, context: ArrayContext) -> list[Form]:
    """Averages of up to 3x3 values."""
    a, constants = AvgPoolAttributes.of(layer), list(layer.inputs[1:])
    rule = Requant.of(a)
    refuse_if(rule.kind == "none", "it divides instead of multiplying")
    refuse_if(max(a.kernel) > _KERNEL or a.dilation != (1, 1), "its windows are larger than 3x3, or have gaps")
    if any(t.spec.elements > 1 for t in constants):
        return [_by_count(layer, context, rule)]
    return conv2d_forms(_with_ones(layer, rule, constants, layer.outputs, a.zero_point), context)


def _with_ones(
    layer: Layer, rule: Requant, constants: Sequence[Tensor], outputs: Sequence[Tensor], zero_point: int
) -> Layer:
    """The depthwise convolution that adds the values of every window."""
    a, x = PoolAttributes.of(layer), layer.inputs[0]
    kernel = a.kernel
    channels, size = x.spec.shape[3], layer.outputs[0].spec.shape[1:3]
    ones = np.zeros((channels, _KERNEL, _KERNEL, 1), np.int8)
    ones[:, : kernel[0], : kernel[1]] = 1
    weights = Tensor(f"{layer.name}_ones", TensorSpec(ones.shape, "int8"), "constant", data=ones)
    # What the larger kernel reads behind the image it multiplies by zero.
    rows, columns = windows(a, (_KERNEL, _KERNEL))
    below, right = rows.padding_after(size[0], x.spec.shape[1]), columns.padding_after(size[1], x.spec.shape[2])
    refuse_if(min(below, right) < 0, "its windows leave pixels at the end of the image alone")
    attributes = Conv2dAttributes(
        layout="NHWC", strides=a.strides, dilation=(1, 1), pads=(rows.before, columns.before, below, right),
        groups=channels, zero_point=zero_point, has_bias=False, requant=rule,
    )  # fmt: skip
    return Layer(layer.name, "conv2d", attributes, [x, weights, *constants], list(outputs))


def _by_count(layer: Layer, context: ArrayContext, rule: Requant) -> Form:
    """Sums by the array, of which the cores round those of equally many values together."""
    a, out = AvgPoolAttributes.of(layer), layer.outputs[0]
    refuse_if(a.strides != (1, 1), "windows at its border count fewer values, and it has a stride")
    refuse_if(out.spec.shape[3] % 4 != 0, "its channels are no multiple of four")
    one_clip = rule.low in (0, ~rule.high) and out.spec.dtype in BYTES
    refuse_if(not one_clip, "its results have not the range of a byte")
    sums = Tensor(f"{layer.name}_sums", TensorSpec(out.spec.shape, "int32"), "activation")
    # Padding adds nothing to a sum; the zero point is taken from what a window holds.
    adds = next(
        f for f in conv2d_forms(_with_ones(layer, Requant(), (), [sums], 0), context) if isinstance(f, ArrayForm)
    )
    form = AverageByCountForm(layer, context, f"{adds.name}, averaged by the cores", adds, derived=adds.derived)
    (kernel, *_) = form.roundings(Box.whole(out.spec.shape), Local("raw", sums.spec), Local("y", out.spec))[1]
    refuse_if(
        isinstance(step_call(kernel, context.costs), Kernel | None), "the cores have no kernel that rounds its sums"
    )
    return form


@dataclass(frozen=True)
class AverageByCountForm(JobForm):
    """Tiles of rows and channels; windows that hold equally many rows and columns are rounded by one call."""

    adds: ArrayForm
    rounding = EXACT

    def axes(self) -> tuple[TileAxis, ...]:
        return (
            TileAxis(1, self.context.rows, least=1),
            TileAxis(3, self.context.depthwise_channels),
            TileAxis(0, limit=1),
        )

    def recipe(self, box: Box) -> Recipe:
        steps = self.adds.recipe(box).steps
        (raw,) = (step.local for step in steps if isinstance(step, Store))
        out = self.layer.outputs[0]
        y = Local("y", TensorSpec(box.size, out.spec.dtype))
        loads, kernels = self.roundings(box, raw, y)
        before = [step for step in steps if not isinstance(step, Store)]
        return self.adds.arranged([*before, *loads, *kernels, Store(y, out, box)])

    def roundings(self, box: Box, raw: Local, y: Local) -> tuple[list[Step], list[Kernel]]:
        """Constants, and a step for every part of the tile whose windows hold equally many values."""
        loads: list[Step] = []
        kernels = []
        known: dict[int, tuple[Requant, list[Local]]] = {}
        rows, columns = (self._runs(axis, box) for axis in (0, 1))
        for (first, height, held), (left, width, across) in product(rows, columns):
            count = held * across
            if count not in known:
                rule, constants = self._rule(count)
                known[count] = (rule, [Local(t.name, t.spec) for t in constants])
                loads += [Load(t, Box.whole((1,)), local) for t, local in zip(constants, known[count][1], strict=True)]
            rule, locals_ = known[count]
            attributes: dict[str, Any] = {
                **rule.attributes(), "axis": 3, "pixels": [first, left, height, width],
                "zero_point": int(AvgPoolAttributes.of(self.layer).zero_point) * count,
            }  # fmt: skip
            kernels.append(Kernel("requantize", attributes, (raw, *locals_), (y,)))
        return loads, kernels

    def _runs(self, axis: int, box: Box) -> list[tuple[int, int, int]]:
        """First line of the tile, lines that follow each other, and lines of the image that each one's windows hold."""
        a, extent = PoolAttributes.of(self.layer), self.layer.inputs[0].spec.shape[1 + axis]
        window = windows(a, a.kernel)[axis]
        begin = window.position(np.arange(box.start[1 + axis], box.start[1 + axis] + box.size[1 + axis]))
        held = np.minimum(begin + window.kernel, extent) - np.maximum(begin, 0)
        runs, first = [], 0
        for count, entries in groupby(held.tolist()):
            length = len(list(entries))
            runs.append((first, length, count))
            first += length
        return runs

    def _rule(self, count: int) -> tuple[Requant, list[Tensor]]:
        """The rounding of sums of so many values: a product and a shift where that is the same, else the layer's."""
        layer, rule = self.layer, Requant.of(self.layer.attributes)
        operands = [t.values.reshape(-1)[count : count + 1] for t in layer.inputs[1:]]
        low, high = (count * (end - int(AvgPoolAttributes.of(layer).zero_point)) for end in layer.inputs[0].spec.range)
        found = exact_shift(rule, operands, np.array([low]), np.array([high]))
        names = [f"{layer.name}_{part}_of_{count}" for part in ("factor", "summand")]
        if found is None:
            data: tuple[np.ndarray, ...] = tuple(o.astype(np.int32) for o in operands)
        else:
            multipliers, summands, shift = found
            rule = Requant("pulp", shift, 0, rule.low, rule.high, wide=False, dtype=rule.dtype)
            data = (multipliers, summands)
        return rule, [self.derived.constant(name, part) for name, part in zip(names, data, strict=True)]
