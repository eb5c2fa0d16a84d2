"""Pools: the largest value of windows, plain averages, and averages that change the scale."""

import math
from functools import cached_property

import numpy as np

from schedules.cluster.arithmetic import uniform_requant
from schedules.cluster.base import Arguments, Box, Fields, KernelForm, Layer, TileAxis, schedule
from schedules.kernel_cycles import Work, kind_of, share, words, work
from schedules.window_fields import field_windows, window_fields
from tvm_pulp.planning.tiling.forms.tile_rules import tile_part
from tvm_pulp.qnn.exact_shift import exact_shift, exact_shift_to_even
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.pool import AvgPoolAttributes
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES
from tvm_pulp.qnn.window_attributes import KernelAttributes, windows

# Windows of more values are not worth the search for another rounding.
_MOST_TAPS = 256
# Kinds of a product, a sum and a shift.
_SHIFTED = ("pulp_range", "shift", "shift_range")
# Fewer channels are summed one by one, by the frameworks' own rule.
_FOUR = 4


def applies_pool(layer: Layer) -> bool:
    """8-bit values."""
    return layer.inputs[0].spec.dtype in BYTES and len(layer.inputs) == 1


def applies_avg_pool(layer: Layer) -> bool:
    """Plain averages with clipping; requantizing ones stay with generated C."""
    return applies_pool(layer) and AvgPoolAttributes.of(layer).requant.kind == "none"


@schedule("max_pool", applies_pool)
@schedule("avg_pool", applies_avg_pool)
class PoolKernel(KernelForm):
    kernel = "pool"

    @property
    def function(self) -> str:
        return self.layer.operator

    cut = (TileAxis(1), TileAxis(3, 4), TileAxis(2), TileAxis(0, limit=1))

    def fields(self, call: Arguments, box: Box) -> Fields:
        a, x, part = KernelAttributes.of(self.layer), self.layer.inputs[0], tile_part(self.layer, box)
        source, moves = part.inputs[0], windows(KernelAttributes.of(part), a.kernel)
        return {
            "x": call.load("x", x, source), "height": source.size[1], "width": source.size[2], "channels": box.size[3],
            "out_height": box.size[1], "out_width": box.size[2], **window_fields(*moves),
            "low": a.get("low", 0), "high": a.get("high", 0),
        }  # fmt: skip


def applies_mean_pool(layer: Layer) -> bool:
    """8-bit values, one multiplier whatever a window holds, or one for every number of values that it may hold."""
    rule = Requant.of(layer.attributes)
    x, constants = layer.inputs[0].spec, layer.inputs[1:]
    plain = x.dtype in BYTES and rule.kind != "none" and rule.out_dtype in BYTES
    taps = math.prod(KernelAttributes.of(layer).kernel)
    return plain and all(t.spec.elements in (1, taps + 1) for t in constants) and uniform_requant(layer, 512 * taps)


@schedule("avg_pool", applies_mean_pool)
class MeanPoolKernel(PoolKernel):
    """Sums of the values, requantized."""

    kernel, result = "mean_pool", "pool.y"

    @property
    def function(self) -> str:
        return self.structure

    @cached_property
    def shifted(self) -> tuple[Requant, tuple[Tensor, Tensor]] | None:
        """The rounding as a product, a sum and a shift, where that is the same for all sums of a window's bytes.

        With ties by the rule `shift_even`, for channels in fours.
        """
        rule, a = Requant.of(self.layer.attributes), AvgPoolAttributes.of(self.layer)
        operands = [t.values.reshape(-1) for t in self.layer.inputs[1:]]
        taps = math.prod(a.kernel)
        if taps > _MOST_TAPS:
            return None
        counts = np.arange(taps + 1) if len(operands[0]) > 1 else np.array([taps])
        low, high = (end - int(a.zero_point) for end in self.layer.inputs[0].spec.range)
        # Of fewer values where one multiplier serves all.
        least, most = (taps if len(counts) == 1 else counts) * min(low, 0), counts * max(high, 0)
        reach = (np.atleast_1d(least), most)
        found, kind = exact_shift(rule, operands, *reach), "pulp"
        if found is None and self.layer.inputs[0].spec.shape[-1] >= _FOUR:
            found, kind = exact_shift_to_even(rule, operands, *reach), "shift_even"
        if found is None:
            return None
        multipliers, summands, shift = found
        constants = (self.constant("multipliers", multipliers), self.constant("summands", summands))
        zero_point = 0 if kind == "pulp" else rule.zero_point
        return Requant(kind, shift, zero_point, rule.low, rule.high, wide=False, dtype=rule.dtype), constants

    def fields(self, call: Arguments, box: Box) -> Fields:
        pool = {f"pool.{name}": value for name, value in super().fields(call, box).items()}
        rule = call.requant() if self.shifted is None else call.requant_member("requant", *self.shifted)
        return pool | rule


@work("max_pool")
def max_pool_work(f: Fields, cores: int) -> Work:
    """Sixteen channels at a time, then eight, then four: where a core's part begins and ends within sixteen as well.

    Windows of 3 x 3 at every second pixel share their columns.
    """
    names = ("kernel_height", "kernel_width", "stride_y", "stride_x", "dilation_y", "dilation_x")
    if _all_inside(f) and [f[n] for n in names] == [3, 3, 2, 2, 1, 1] and f["channels"] % 4 == 0:
        lines = share(f["out_height"] * words(f["channels"]), cores)
        return {"overlap_call": 1, "overlap_line": lines, "overlap_pixel": lines * f["out_width"]}
    deep, groups, work = words(f["channels"]), _groups(f, cores), _windows(f, cores)
    begin = groups % deep if cores > 1 and f["out_height"] * f["out_width"] * deep > groups else 0
    # Of the second core, as most have a beginning like it.
    parts = [(begin, min(deep, begin + groups)), *[(0, deep)] * ((groups - min(groups, deep - begin)) // deep)]
    rest = groups - sum(last - first for first, last in parts)
    whole = [max(0, min(last, f["channels"] // 4) - first) for first, last in (*parts, (0, rest))]
    wide, pairs = sum(n // 4 for n in whole), sum(n % 4 // 2 for n in whole)
    for width, count in (("wide", wide), ("pair", pairs)):
        work = {**work, **{f"{width}_{name}": taps for name, taps in _taps(f, count).items()}}
    return {**work, **_taps(f, groups - 4 * wide - 2 * pairs)}


@work("avg_pool")
def avg_pool_work(f: Fields, cores: int) -> Work:
    return {**_windows(f, cores), **_taps(f, _groups(f, cores))}


def _groups(f: Fields, cores: int) -> int:
    """Groups of four channels that a core has."""
    return share(f["out_height"] * f["out_width"] * words(f["channels"]), cores)


def _windows(f: Fields, cores: int) -> Work:
    """The call and the windows that a core looks at after its first."""
    pixels, deep, groups = f["out_height"] * f["out_width"], words(f["channels"]), _groups(f, cores)
    touched = -(-groups // deep) + (1 if pixels > 1 and groups % deep else 0)
    # Windows that all lie inside need not be looked for.
    where = "inner_" if _all_inside(f) else ""
    return {f"{where}call": 1, f"{where}pixel": touched - 1}


def _all_inside(f: Fields) -> bool:
    rows, columns = field_windows(f)
    return not (rows.is_padded(f["out_height"], f["height"]) or columns.is_padded(f["out_width"], f["width"]))


def _taps(f: Fields, groups: int) -> Work:
    rows = groups * f["kernel_height"]
    return {"group": groups, "row": rows, "tap": rows * f["kernel_width"]}


@work("mean_pool")
def mean_pool_work(f: Fields, cores: int) -> Work:
    pixels, kernel = f["pool.out_height"] * f["pool.out_width"], (f["pool.kernel_height"], f["pool.kernel_width"])
    groups = share(pixels * words(f["pool.channels"]), cores)
    touched = -(-groups // words(f["pool.channels"])) + (1 if pixels > 1 else 0)
    # Whole lines are one.
    lines = 1 if kernel[1] == f["pool.width"] and f["pool.dilation_x"] == 1 else kernel[0]
    work = {"call": 1, "pixel": touched, "row": groups * lines, "tap": groups * kernel[0] * kernel[1]}
    kind = kind_of(f)
    return {**work, f"group_{'pulp' if kind in _SHIFTED else kind}": groups}
