"""Pools over windows, in numpy and as loops. Layout NHWC, or NCHW before the NHWC pass."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.conv2d import output_size, tap_loops, taps
from tvm_pulp.qnn.loops import call, i32, less
from tvm_pulp.qnn.operator import Arrays, Loops, Operator, Requant, Specs, TensorSpec, register
from tvm_pulp.qnn.record import Requantized
from tvm_pulp.qnn.tensor_spec import RANGES
from tvm_pulp.qnn.tiles import POOL
from tvm_pulp.qnn.window_attributes import KernelAttributes, windows
from tvm_pulp.quick_records import quick_record


@quick_record(kw_only=True, slots=False)
class PoolAttributes(KernelAttributes):
    """Layout of the input and of the result."""

    layout: str


Pooled = TypeVar("Pooled", bound=PoolAttributes)


class _Pool(Operator[Pooled]):
    """Results have the type of the input, unless there is a rule of requantization."""

    def infer(self, attributes: Pooled, inputs: Specs) -> TensorSpec:
        channels_first, rule = attributes.layout == "NCHW", Requant.of(attributes)
        n, *rest = inputs[0].shape
        (h, w), c = (rest[1:], rest[0]) if channels_first else (rest[:2], rest[2])
        size = output_size(attributes, h, w, *attributes.kernel)
        dtype = inputs[0].dtype if rule.kind == "none" else rule.out_dtype
        return TensorSpec((n, c, *size) if channels_first else (n, *size, c), dtype)


def shifted_inputs(attributes: KernelAttributes, x: np.ndarray, fill: int, layout: str) -> np.ndarray:
    """Stack of the shifted inputs, one per kernel position; padding reads `fill`."""
    if layout == "NCHW":
        return shifted_inputs(attributes, x.transpose(0, 2, 3, 1), fill, "NHWC").transpose(0, 1, 4, 2, 3)
    kernel, size = attributes.kernel, x.shape[1:3]
    result = output_size(attributes, size[0], size[1], *kernel)
    # A ceil-mode output may reach beyond the padding: those positions are padding too.
    axes = zip(windows(attributes, kernel), result, size, strict=True)
    sides = [(window.before, max(window.after, window.padding_after(*counts))) for window, *counts in axes]
    x = np.pad(x, ((0, 0), *sides, (0, 0)), constant_values=fill)
    return np.stack([x[:, *met] for _, _, met in taps(attributes, kernel, result)])


Taps = Callable[[], AbstractContextManager[tuple[Any, Any, Any, Any]]]


@contextmanager
def window_axes(
    loops: Loops, attributes: PoolAttributes, x: TensorSpec, output: TensorSpec
) -> Iterator[tuple[list[Any], Taps]]:
    """Loops over all output positions, channels innermost; what yields every input position of the window there."""
    n, oh, ow, channels = output.shape
    size, moves = x.shape[1:3], windows(attributes, attributes.kernel)
    padded = moves[0].is_padded(oh, size[0]), moves[1].is_padded(ow, size[1])
    with loops.parallel("place", n * oh * ow * channels) as place:
        channel = loops.bind("channel", tirx.truncmod(place, i32(channels)))
        pixel = loops.bind("pixel", tirx.truncdiv(place, i32(channels)))
        ox = loops.bind("ox", tirx.truncmod(pixel, i32(ow)))
        line = loops.bind("line", tirx.truncdiv(pixel, i32(ow)))
        oy = loops.bind("oy", tirx.truncmod(line, i32(oh))) if n > 1 else line
        batch = loops.bind("batch", tirx.truncdiv(line, i32(oh))) if n > 1 else i32(0)
        yield [batch, oy, ox, channel], lambda: tap_loops(loops, moves, size, (oy, ox), padded)


@register("max_pool", attributes=PoolAttributes, tile=POOL)
class MaxPool(_Pool[PoolAttributes]):
    """Maximum over windows, NHWC. Padding never wins."""

    def reference(self, attributes: PoolAttributes, inputs: Arrays) -> np.ndarray:
        return np.asarray(
            shifted_inputs(attributes, inputs[0], RANGES[str(inputs[0].dtype)][0], attributes.layout).max(axis=0)
        )

    def body(self, loops: Loops, attributes: PoolAttributes, inputs: Specs, output: TensorSpec) -> None:
        x, y = loops.buffer("x", inputs[0]), loops.buffer("y", output)
        with window_axes(loops, attributes, inputs[0], output) as (place, taps):
            best = loops.scalar("best", inputs[0].range[0])
            with taps() as (_, _, iy, ix):
                best.set(tirx.max(best.value, i32(x[place[0], iy, ix, place[3]])))
            loops.store(y, place, best.value.astype(output.dtype))


@quick_record(kw_only=True, slots=False)
class AvgPoolAttributes(PoolAttributes, Requantized):
    """The range belongs to averages in the scale of the input, the zero point to those that are requantized."""

    low: int = 0
    high: int = 0
    zero_point: int = 0


@register("avg_pool", attributes=AvgPoolAttributes, tile=POOL)
class AvgPool(_Pool[AvgPoolAttributes]):
    """Average over windows, NHWC. Padding does not count.

    Without requantization the average keeps the input's scale, is rounded half away from zero as TFLite's reference
    kernel does, and clipped to `low`..`high`. With it, the sum of the values less `zero_point` is requantized; the
    tensors then hold one element, or one per number of values in a window (0 to all), because windows at a border are
    smaller. Where padding counts as zeros, one element says so.
    """

    def reference(self, attributes: AvgPoolAttributes, inputs: Arrays) -> np.ndarray:
        x, rule = inputs[0].astype(np.int64), Requant.of(attributes)
        count = shifted_inputs(attributes, np.ones_like(x), 0, attributes.layout).sum(axis=0)
        if rule.kind != "none":
            total = shifted_inputs(attributes, x - attributes.zero_point, 0, attributes.layout).sum(axis=0)
            # One requantization per element: the tensors are picked by the number of values, then applied flat.
            picked = [np.broadcast_to(o if o.size == 1 else o[count], total.shape).reshape(-1) for o in inputs[1:]]
            return rule.apply(total.reshape(-1), picked).reshape(total.shape)
        total = shifted_inputs(attributes, x, 0, attributes.layout).sum(axis=0)
        average = np.sign(total) * ((np.abs(total) + count // 2) // count)
        return np.clip(average, attributes.low, attributes.high).astype(inputs[0].dtype)

    def body(self, loops: Loops, attributes: AvgPoolAttributes, inputs: Specs, output: TensorSpec) -> None:
        rule = Requant.of(attributes)
        x, *tensors = loops.buffers("x mul add", inputs)
        y = loops.buffer("y", output)
        zero_point = attributes.zero_point if rule.kind != "none" else 0
        counted = rule.kind == "none" or any(t.elements > 1 for t in inputs[1:])
        with window_axes(loops, attributes, inputs[0], output) as (place, taps):
            total = loops.scalar("total", 0)
            count = loops.scalar("count", 0) if counted else None
            with taps() as (_, _, iy, ix):
                total.set(total.value + less(i32(x[place[0], iy, ix, place[3]]), zero_point))
                if count is not None:
                    count.set(count.value + 1)
            if rule.kind == "none" and count is not None:
                average = call("round_divide_32", total.value, count.value)
                result = call("clip", average, attributes.low, attributes.high).astype(output.dtype)
            else:
                result = rule.expression(total.value, tensors, count.value if count is not None else i32(0))
            loops.store(y, place, result)
