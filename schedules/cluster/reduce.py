"""Means over neighbouring axes of bytes, those behind them kept: a pool whose window is all of them."""

import math
from functools import cached_property

import numpy as np

from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, TileAxis, schedule
from schedules.window_fields import window_fields
from tvm_pulp.qnn.reduce import ReduceAttributes
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.window import Window


def as_shift(count: int, low: int, high: int) -> tuple[int, int, int] | None:
    """Multiplier, summand and shift that make the mean of `count` values from low to high, rounded half up."""
    sums = np.arange(count * low, count * high + 1)
    means = (sums + count // 2) // count
    for shift in range(24):
        multiplier = -(-(1 << shift) // count)
        # Sums from 0 on, so that a multiplier that is slightly too large does no harm.
        summand = (count // 2 - count * low) * multiplier + (low << shift)
        inside = max(np.abs(sums).max() * multiplier, abs(summand), max(-low, high + 1) << shift) < 1 << 31
        if inside and np.array_equal((sums * multiplier + summand) >> shift, means):
            return multiplier, summand, shift
    return None


def applies_mean(layer: Layer) -> bool:
    """Means of bytes over neighbouring axes before the last one."""
    a, x = ReduceAttributes.of(layer), layer.inputs[0].spec
    axes = sorted(a.axes)
    if a.kind != "mean" or x.dtype not in BYTES or axes != list(range(axes[0], axes[-1] + 1)):
        return False
    count = math.prod(x.shape[i] for i in axes)
    return axes[-1] < len(x.shape) - 1 and count <= 1 << 12 and as_shift(count, *x.range) is not None


@schedule("reduce", applies_mean)
class MeanKernel(KernelForm):
    kernel, result, label = "mean_pool", "pool.y", "mean_pool kernel"

    @cached_property
    def reduced(self) -> range:
        axes = ReduceAttributes.of(self.layer).axes
        return range(min(axes), max(axes) + 1)

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(len(self.layer.outputs[0].spec.shape) - 1, 4),)

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, x = ReduceAttributes.of(self.layer), self.layer.inputs[0]
        shape, first, behind = x.spec.shape, self.reduced.start, self.reduced.stop
        kept = behind if a.keepdims else first
        start, size = (
            (*part[:first], *whole, *part[kept:])
            for part, whole in ((box.start, (0,) * len(self.reduced)), (box.size, shape[first:behind]))
        )
        count, outer, channels = (math.prod(sizes) for sizes in (shape[first:behind], size[:first], size[behind:]))
        found = as_shift(count, *x.spec.range)
        assert found is not None
        multiplier, summand, shift = found
        rule = Requant("pulp", shift, 0, *x.spec.range, wide=False, dtype=x.spec.dtype)
        constants = [
            self.constant(n, np.array([v], np.int32)) for n, v in (("multiplier", multiplier), ("summand", summand))
        ]
        pool = {
            "x": call.load("x", x, Box(start, size)), "height": outer * count, "width": 1, "channels": channels,
            "out_height": outer, "out_width": 1, "low": 0, "high": 0,
            **window_fields(Window(count, count), Window()),
        }  # fmt: skip
        fields = {f"pool.{name}": value for name, value in pool.items()}
        return {**fields, "zero_point": 0, **call.requant_member("requant", rule, constants)}
