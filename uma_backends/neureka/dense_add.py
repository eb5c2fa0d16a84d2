"""A matrix product and the constant row added to it, as one region, and one thing more where it follows.

Exporters write a linear layer as a product and a sum, and quantizers round between them. The cores do both roundings in
one pass over the array's 32-bit results, which saves them a layer; a function of the bytes, or a sum with another
tensor, is made in the same pass.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tvm_pulp.planning.tiling.forms.conv_array import DenseForm, known_arithmetic, residual_of
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box, Form, Kernel, Load, Local, Refused, Step, Store, pattern_of, refuse_if, step_call
from tvm_pulp.uma.conv_array.layer_arithmetic import Arithmetic
from uma_backends.neureka.added_row import BYTES, AddedRow, find_added_row
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.neureka_form import Context

_RANGES = {"int8": (-128, 127), "uint8": (0, 255)}
_INT32 = 1 << 31
_BYTES = 256
# Rows are looked for once, though annotation and planning ask both.
_KNOWN: WeakKeyDictionary[Layer, AddedRow | None] = WeakKeyDictionary()


def added_sum_patterns() -> list[tuple[str, Callable[[], Any]]]:
    """A product, a constant and another tensor added to it, each from either side."""
    sides = ((0, ""), (1, "_turned"))

    def at(inner: int, outer: int) -> Callable[[], Any]:
        def added(place: int, operand: Any) -> Any:
            return pattern_of("add", *(operand if i == place else None for i in range(2)))

        return lambda: added(outer, added(inner, pattern_of("dense")))

    return [(f"dense_added{i}_summed{o}", at(inner, outer)) for inner, i in sides for outer, o in sides]


def dense_add_strategy(region: Layer, context: Context) -> list[Form]:
    """A product that the cores requantize, plus a constant for every channel."""
    return [_added(region, context, "requantize_add", {}, "1x1 over rows, added")]


def dense_add_sum_strategy(region: Layer, context: Context) -> list[Form]:
    """A product that the cores requantize, plus a constant for every channel, plus another tensor of the same shape."""
    _, add, last = region.parts
    _refuse_one_row(region)
    residual = residual_of(add, last)
    form = _added(region, context, "requantize_add_sum", residual.attributes, "1x1 over rows, added and summed")
    return [replace(form, residual=residual)]


def dense_add_table_strategy(region: Layer, context: Context) -> list[Form]:
    """A product that the cores requantize, plus a constant for every channel, then a function of a byte."""
    _, add, last = region.parts
    table, result = last.inputs[1].data, last.outputs[0].spec
    is_table = last.operator == "lookup" and table is not None and table.size == _BYTES
    refuse_if(not is_table or result.dtype not in _RANGES, "what follows is no function of a byte alone")
    _refuse_one_row(region)
    form = _added(region, context, "requantize_add_table", {}, "1x1 over rows, added, by a table")
    return [replace(form, table=_in_order(last, add.outputs[0].spec.dtype))]


def _in_order(lookup: Layer, dtype: str) -> np.ndarray:
    """The bytes that become of all bytes, the smallest first."""
    from tvm_pulp.qnn.operator import OPERATORS

    low, high = _RANGES[dtype]
    operands = [np.arange(low, high + 1).astype(dtype), lookup.inputs[1].values]
    return np.ascontiguousarray(OPERATORS["lookup"].reference(lookup.attributes, operands)).view(np.uint8)


def _refuse_one_row(region: Layer) -> None:
    """The kernels of a single row are those of the parts."""
    spec = region.outputs[0].spec
    refuse_if(spec.elements == spec.shape[-1], "a single row is faster in two passes")


def _added(region: Layer, context: Context, operator: str, attributes: dict[str, Any], name: str) -> "DenseAddForm":
    dense, add = region.parts[:2]
    arithmetic = known_arithmetic(dense, context)
    if arithmetic.rest is None:
        undivided = "the first rounding is not an addition and a shift"
        raise Refused("the array delivers bytes" if arithmetic.native else undivided)
    refuse_if(dense.outputs[0].spec.shape[-1] % 4 != 0, "its channels are no multiple of four")
    rules = [Requant.of(layer.attributes) for layer in (dense, add)]
    are_bytes = all((rule.low, rule.high) == _RANGES.get(rule.out_dtype) for rule in rules)
    refuse_if(not are_bytes, "a result does not have the range of a byte")
    reach = arithmetic.rest.largest(arithmetic.reach) + np.abs(_signed_add(arithmetic, rules[0]))
    refuse_if((reach >= _INT32).any(), "the first rounding needs more than 32 bits")
    kernel = Kernel(operator, attributes, (Local("x", TensorSpec((1, 4), "int32")),), ())
    has_kernel = not isinstance(step_call(kernel, context.costs), Kernel)
    refuse_if(not has_kernel, "the cores have no kernel for all its roundings at once")
    if add not in _KNOWN:
        _KNOWN[add] = _added_row(dense, add)
    row = _KNOWN[add]
    refuse_if(row is None, "the sum is no product, summand and shift")
    whole = replace(dense, name=region.name, outputs=region.outputs)
    return DenseAddForm(whole, context, name, arithmetic, Mode.POINTWISE, row=row, first=rules[0])


def _signed_add(arithmetic: Arithmetic, rule: Requant) -> np.ndarray:
    """The summand of the first rounding, whose result shall be a signed byte."""
    assert arithmetic.rest is not None
    return np.asarray(arithmetic.rest.add - ((rule.low + 128) << arithmetic.rest.shift))


def _added_row(dense: Layer, add: Layer) -> AddedRow | None:
    from tvm_pulp.qnn.operator import OPERATORS

    product, result = dense.outputs[0], add.outputs[0]
    place = next(i for i, t in enumerate(add.inputs[:2]) if t.storage is product.storage)
    other = add.inputs[1 - place]
    channels = product.spec.shape[-1]
    if other.data is None or other.spec.elements not in (1, channels) or add.attributes["form"] != "half_even":
        return None
    if result.spec.shape != product.spec.shape or (other.spec.elements > 1 and other.spec.shape[-1] != channels):
        return None
    low = Requant.of(dense.attributes).low
    every = (BYTES + 128 + low).astype(product.spec.dtype)[None, :]
    row = np.broadcast_to(other.data.reshape(-1, 1), (channels, 1))
    operands = [np.broadcast_to(every, (channels, 256)), row]
    values = OPERATORS["add"].reference(add.attributes, operands if place == 0 else operands[::-1])
    slope = add.attributes["multipliers"][place] / 2.0 ** add.attributes["shift"]
    return find_added_row(values.astype(np.int64) - Requant.of(add.attributes).low - 128, slope)


@dataclass(frozen=True)
class DenseAddForm(DenseForm):
    """As DenseForm, with more for the cores to do after a job."""

    row: AddedRow | None = None
    first: Requant | None = None  # the rounding before the row is added
    table: np.ndarray | None = None

    def finish(self, raw: Local, box: Box, taken: Any = ()) -> list[Step]:
        rest, row, out, name = self.arithmetic.rest, self.row, self.layer.outputs[0], self.layer.name
        assert rest is not None and row is not None and self.first is not None
        first, channels = box.start[-1], box.size[-1]
        stages = np.stack([rest.shift, _signed_add(self.arithmetic, self.first), row.add])
        # The kernel takes four channels at a time.
        fours = stages.reshape(3, -1, 4).transpose(1, 0, 2).reshape(-1).astype(np.int32)
        constants = self.derived.constant(f"{name}_stages", fours)
        local = Local("stages", TensorSpec((3 * channels,), "int32"))
        loads: list[Step] = [Load(constants, Box((3 * first,), (3 * channels,)), local)]
        operator, attributes, operands = "requantize_add", {"mul": row.mul, "shift": row.shift}, [raw, local]
        if self.residual is not None:
            other = self.residual.other
            operator, attributes = "requantize_add_sum", {**attributes, **self.residual.attributes}
            operands.append(Local("b", TensorSpec(box.size, other.spec.dtype)))
            loads.append(Load(other, box, operands[-1]))
        elif self.table is not None:
            stored = self.derived.constant(f"{name}_table", self.table)
            operator = "requantize_add_table"
            operands.append(Local("table", stored.spec))
            loads.append(Load(stored, Box.whole(stored.spec.shape), operands[-1]))
        y = Local("y", TensorSpec(box.size, out.spec.dtype))
        return [*loads, Kernel(operator, attributes, tuple(operands), (y,)), Store(y, out, box)]
