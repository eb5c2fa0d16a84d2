"""Sums and requantizations of bytes by products of two bytes at once, for cores that share a multiplier."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from schedules.byte_functions import PairScale, find_pair_scale
from schedules.byte_tables import byte_values
from schedules.cluster.base import Arguments, Box, Fields, Layer, Tensor, schedule
from schedules.cluster.elementwise import ElementwiseKernel
from tvm_pulp.qnn.add import AddAttributes, rules, split
from tvm_pulp.qnn.elementwise import RequantizeAttributes
from tvm_pulp.qnn.requant import Requant

_FLIPS = {"int8": 0x80808080, "uint8": 0}
_LOWEST = {"int8": -128, "uint8": 0}
_INT32 = 1 << 31


@dataclass(frozen=True)
class PairSum:
    """Numbers that the kernel multiplies and adds: `clip(((f(a) + g(b)) * mul + add) >> shift)` from 0 to `span`."""

    scales: tuple[PairScale, ...]
    order: tuple[int, ...]  # the operand of each scale
    mul: np.ndarray
    add: np.ndarray
    shift: int
    span: int


def applies(layer: Layer) -> bool:
    """Bytes of one type in and out, in one shape; operands as they are, or scaled without saturation."""
    return AddAttributes.of(layer).form == "plain" and pair_sum(layer) is not None


def applies_requantize(layer: Layer) -> bool:
    """Bytes of one type in and out, one multiplier per column."""
    axis = RequantizeAttributes.of(layer).axis % len(layer.outputs[0].spec.shape)
    last = axis == len(layer.outputs[0].spec.shape) - 1
    return last and RequantizeAttributes.of(layer).zero_point == 0 and pair_sum(layer) is not None


def pair_sum(layer: Layer) -> PairSum | None:
    """A layer as the kernel computes it, or None where that is not exact."""
    rule, result = Requant.of(layer.attributes), layer.outputs[0].spec
    count = 2 if layer.operator == "add" else 1
    alike = all((t.spec.shape, t.spec.dtype) == (result.shape, result.dtype) for t in layer.inputs[:count])
    if rule.kind != "pulp" or not alike or result.dtype not in _FLIPS or rule.low != _LOWEST[result.dtype]:
        return None
    mul, add = (t.data.reshape(-1).astype(np.int64) for t in layer.inputs[-2:] if t.data is not None)
    if mul.size != add.size or mul.size not in (1, result.shape[-1]):
        return None
    scaled = [_scale_of(layer, side) for side in range(count)]
    if any(s is None for s in scaled):
        return None
    found = [s for s in scaled if s is not None]
    offset = sum(s[1] for s in found)
    # Where only one operand is scaled, it is the second.
    order = (1, 0) if count == 2 and found[1][0].keeps else tuple(range(count))
    add = add - offset * mul - (rule.low << rule.shift)
    reach = np.abs(mul) * (255 * count) + np.abs(add)
    if rule.shift > 30 or reach.max() >= _INT32:
        return None
    return PairSum(tuple(found[i][0] for i in order), order, mul, add, rule.shift, rule.high - rule.low)


def _scale_of(layer: Layer, side: int) -> tuple[PairScale, int] | None:
    """The scale of an operand before the sum, and by how much that is raised."""
    dtype = layer.inputs[side].spec.dtype
    values = np.sort(byte_values(dtype))
    rule = rules(AddAttributes.of(layer))[side] if layer.operator == "add" else Requant()
    if rule.kind != "none":
        tensors = split(AddAttributes.of(layer), layer.inputs[2:])[side]
        constants = [t.data for t in tensors if t.data is not None and t.spec.elements == 1]
        if len(constants) != rule.operands:
            return None
        values = rule.apply(values, constants).astype(np.int64)
    offset = -_LOWEST[dtype] if rule.kind == "none" else -min(0, int(values.min()))
    scale = find_pair_scale(values + offset)
    return None if scale is None else (scale, offset)


@schedule("add", applies, first=True)
@schedule("requantize", applies_requantize, first=True)
class AddPairsKernel(ElementwiseKernel):
    kernel = "add_pairs"

    @cached_property
    def sum(self) -> PairSum:
        found = pair_sum(self.layer)
        assert found is not None
        return found

    def data(self) -> list[Tensor]:
        return self.layer.inputs[: len(self.sum.scales)]

    def fields(self, call: Arguments, box: Box) -> Fields:
        found = self.sum
        rows, columns = self.geometry(box)
        fields: Fields = {"b": 0, "b_stride": 0, "per_channel": int(found.mul.size > 1)}
        for name, side in zip("ab", found.order, strict=False):
            fields[name], fields[f"{name}_stride"] = self.operand(call, name, self.layer.inputs[side], box, columns)
        channels = box.span(-1) if fields["per_channel"] else slice(0, 1)
        part = Box((channels.start,), (channels.stop - channels.start,))
        for name, values in (("mul", found.mul), ("add", found.add)):
            fields[name] = call.load(name, self.constant(f"pair_{name}", values.astype(np.int32)), part)
        for name, scale in zip("fg", (*found.scales, PairScale()), strict=False):
            fields |= {f"{name}.mul": scale.mul, f"{name}.add": scale.add * 0x10001, f"{name}.shift": scale.shift}
        return fields | {
            "rows": rows, "columns": columns, "y_stride": columns, "shift": found.shift, "span": found.span,
            "flip": _FLIPS[call.output.spec.dtype],
        }  # fmt: skip
