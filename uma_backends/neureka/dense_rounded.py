"""A matrix product and what the cores make of every byte of its result, as one region.

Exporters write a linear layer as a product and a sum, quantizers round between them, and functions of a byte such as
GELU come behind. The cores do all of it in one pass over the array's 32-bit results: they add a constant row and round
again, by one more product and shift, then add another tensor or look up a table; or all functions together are a table
for every channel.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tvm_pulp.qnn.add import AddAttributes
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec, every_value
from tvm_pulp.uma import Box, Form, Kernel, Load, Local, Refused, Step, Store, pattern_of, refuse_if
from uma_backends.conv_array import DenseForm, known_arithmetic, residual_of
from uma_backends.conv_array.arithmetic.layer_arithmetic import LayerArithmetic
from uma_backends.conv_array.forms.summed import behind, load_stages, refuse_without_kernel
from uma_backends.neureka.added_row import AddedRow, find_added_row
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.neureka_form import NeurekaContext

_BYTES = 256
# Where a rounding's least result goes: to the smallest signed byte, or to the first place of a table.
_SIGNED, _PLACES = -128, 0
# Rows and tables are looked for once, though annotation and planning ask both.
_ROWS: WeakKeyDictionary[Layer, AddedRow | None] = WeakKeyDictionary()
_TABLES: WeakKeyDictionary[Layer, np.ndarray | None] = WeakKeyDictionary()
# Tables travel to L1 at every inference: fewer rows do not repay it.
_LEAST_ROWS = 32
_DENSE: Callable[[], Any] = partial(pattern_of, "dense")
# Parts of a region whose row is added before another function.
_WITH_A_SUM = 3


def _behind(name: str, places: int, inner: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """Patterns of an operator of two operands, one of them another pattern: by the end of their names."""
    return {"" if place == 0 else "_turned": behind(inner, name, [place]) for place in range(places)}


def _added() -> dict[str, Callable[[], Any]]:
    """A product with a constant added from either side."""
    return {f"dense_added{side}": made for side, made in _behind("add", 2, _DENSE).items()}


def added_sum_patterns() -> list[tuple[str, Callable[[], Any]]]:
    """A product, a constant and another tensor added to it, each from either side."""
    return [
        (f"{name}_summed{side}", made)
        for name, inner in _added().items()
        for side, made in _behind("add", 2, inner).items()
    ]


def table_patterns() -> list[tuple[str, Callable[[], Any]]]:
    """Products with a constant added, from either side, or not, and with another function behind."""
    found = _added()
    for name, inner in {"dense": _DENSE, **_added()}.items():
        for function, places in (("lookup", 1), ("qdq_mul", 2)):
            found |= {f"{name}_{function}{side}": made for side, made in _behind(function, places, inner).items()}
    return list(found.items())


def dense_add_strategy(region: Layer, context: NeurekaContext) -> list[Form]:
    """A product that the cores requantize, plus a constant for every channel."""
    return [_with_row(region, context, "requantize_add", "1x1 over rows, added")]


def dense_add_sum_strategy(region: Layer, context: NeurekaContext) -> list[Form]:
    """A product that the cores requantize, plus a constant for every channel, plus another tensor of the same shape."""
    _, add, last = region.parts
    _refuse_one_row(region)
    residual = residual_of(add, last)
    name = "1x1 over rows, added and summed"
    form = _with_row(region, context, "requantize_add_sum", name, residual.attributes)
    return [replace(form, residual=residual)]


def dense_table_strategy(region: Layer, context: NeurekaContext) -> list[Form]:
    """A product that the cores requantize, then functions of a byte, with constants of channels."""
    dense = region.parts[0]
    arithmetic = _divided(dense, context, "its rounding")
    rule, product = Requant.of(dense.attributes), dense.outputs[0].spec
    refuse_if(not rule.is_whole_byte, "its result does not have the range of a byte")
    rounding = _rounding(arithmetic, rule, _PLACES, "its rounding")
    refuse_if(product.shape[-1] % 4 != 0, "its channels are no multiple of four")
    rows = product.elements // product.shape[-1]
    if rows < _LEAST_ROWS and len(region.parts) == _WITH_A_SUM:
        return _add_table(region, context)
    refuse_if(rows < _LEAST_ROWS, f"{rows} rows do not repay a table for every channel")
    refuse_without_kernel("requantize_table", {}, context, "for a rounding with a table")
    if region not in _TABLES:
        _TABLES[region] = _tables(dense.outputs[0], region.parts[1:])
    tables = _TABLES[region]
    if tables is None:
        raise Refused("what follows it is no function of a byte and a constant of its channel")
    name = "1x1 over rows, by a table" if len(tables) == 1 else "1x1 over rows, by tables of channels"
    return [_form(region, context, name, arithmetic, "requantize_table", rounding, tables=tables)]


def _add_table(region: Layer, context: NeurekaContext) -> list[Form]:
    """The form with a constant added, then a function of a byte."""
    _, add, last = region.parts
    table, result = last.inputs[1].data, last.outputs[0].spec
    is_table = last.operator == "lookup" and table is not None and table.size == _BYTES
    refuse_if(not is_table or result.dtype not in BYTES, "what follows is no function of a byte alone")
    _refuse_one_row(region)
    form = _with_row(region, context, "requantize_add_table", "1x1 over rows, added, by a table")
    return [replace(form, tables=_tables(add.outputs[0], [last]))]


def _refuse_one_row(region: Layer) -> None:
    """The kernels of a single row are those of the parts."""
    spec = region.outputs[0].spec
    refuse_if(spec.elements == spec.shape[-1], "a single row is faster in two passes")


def _divided(dense: Layer, context: NeurekaContext, rounding: str) -> LayerArithmetic:
    """Arithmetic of a product that the array scales and the cores add to and shift."""
    arithmetic = known_arithmetic(dense, context)
    if arithmetic.rest is None:
        raise Refused("the array delivers bytes" if arithmetic.native else f"{rounding} is not an addition and a shift")
    return arithmetic


def _rounding(arithmetic: LayerArithmetic, rule: Requant, least: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Shift and summand by which the cores round to bytes whose smallest is `least`; refused beyond 32 bits."""
    rest = arithmetic.rest
    assert rest is not None
    add = rest.from_least(rule.low, least)
    refuse_if(rest.exceeds(arithmetic.reach, add), f"{name} needs more than 32 bits")
    return rest.shift, add


def _with_row(
    region: Layer, context: NeurekaContext, operator: str, name: str, attributes: dict[str, Any] | None = None
) -> "DenseRoundedForm":
    """The form that adds a constant row behind the first rounding."""
    dense, add = region.parts[:2]
    arithmetic = _divided(dense, context, "the first rounding")
    refuse_if(dense.outputs[0].spec.shape[-1] % 4 != 0, "its channels are no multiple of four")
    rules = [Requant.of(layer.attributes) for layer in (dense, add)]
    refuse_if(not all(rule.is_whole_byte for rule in rules), "a result does not have the range of a byte")
    rounding = _rounding(arithmetic, rules[0], _SIGNED, "the first rounding")
    refuse_without_kernel(operator, attributes or {}, context, "for all its roundings at once")
    if add not in _ROWS:
        _ROWS[add] = _added_row(dense.outputs[0], add)
    row = _ROWS[add]
    if row is None:
        raise Refused("the sum is no product, summand and shift")
    how = {"mul": row.mul, "shift": row.shift, **(attributes or {})}
    return _form(region, context, name, arithmetic, operator, (*rounding, row.add), attributes=how)


def _form(
    region: Layer,
    context: NeurekaContext,
    name: str,
    arithmetic: LayerArithmetic,
    operator: str,
    stages: tuple[np.ndarray, ...],
    **more: Any,
) -> "DenseRoundedForm":
    whole = replace(region.parts[0], name=region.name, outputs=region.outputs)
    return DenseRoundedForm(
        whole, context, name, arithmetic, Mode.POINTWISE, operator=operator, stages=np.stack(stages), **more
    )


def _added_row(product: Tensor, add: Layer) -> AddedRow | None:
    from tvm_pulp.qnn.operator import OPERATORS

    result = add.outputs[0]
    place = next(i for i, t in enumerate(add.inputs[:2]) if t.storage is product.storage)
    other = add.inputs[1 - place]
    channels = product.spec.shape[-1]
    if other.data is None or not _is_row(other.spec, channels) or AddAttributes.of(add).form != "half_even":
        return None
    if result.spec.shape != product.spec.shape:
        return None
    row = np.broadcast_to(other.data.reshape(-1, 1), (channels, 1))
    operands = [np.broadcast_to(every_value(product.spec.dtype), (channels, _BYTES)), row]
    values = OPERATORS["add"].reference(AddAttributes.of(add), operands if place == 0 else operands[::-1])
    slope = AddAttributes.of(add).multipliers[place] / 2.0 ** AddAttributes.of(add).shift
    return find_added_row(values.astype(np.int64) - Requant.of(add.attributes).low - 128, slope)


def _tables(product: Tensor, functions: Sequence[Layer]) -> np.ndarray | None:
    """The bytes [channels or 1][256] that become of a tensor's, the smallest first; None where that is not all."""
    from tvm_pulp.qnn.operator import OPERATORS

    channels, source = product.spec.shape[-1], product
    values = np.broadcast_to(every_value(product.spec.dtype)[:, None], (_BYTES, channels))
    for layer in functions:
        result = layer.outputs[0]
        places = [i for i, t in enumerate(layer.inputs) if t.storage is source.storage]
        if len(places) != 1 or result.spec.shape != product.spec.shape or result.spec.dtype not in BYTES:
            return None
        operands = []
        for number, tensor in enumerate(layer.inputs):
            if number == places[0]:
                operands.append(values)
            elif tensor.data is None or (layer.operator != "lookup" and not _is_row(tensor.spec, channels)):
                return None
            else:
                operands.append(tensor.data if layer.operator == "lookup" else tensor.data.reshape(-1))
        values, source = OPERATORS[layer.operator].reference(layer.attributes, operands), result
    tables = np.ascontiguousarray(values.T).view(np.uint8)
    return tables[:1] if (tables == tables[:1]).all() else tables


def _is_row(spec: TensorSpec, channels: int) -> bool:
    """Tell whether a constant has one value, or one for every channel."""
    return spec.elements == 1 or (spec.elements == channels == spec.shape[-1])


@dataclass(frozen=True)
class DenseRoundedForm(DenseForm):
    """As DenseForm, with more for the cores to do after a job: `operator`, with the numbers of its roundings."""

    operator: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    stages: np.ndarray | None = None  # [shifts and summands][channels]
    tables: np.ndarray | None = None  # one for all channels, or one for each

    def finish(self, raw: Local, box: Box, taken: Any = ()) -> list[Step]:
        out, name, stages, tables = self.layer.outputs[0], self.layer.name, self.stages, self.tables
        assert stages is not None
        loads = [load_stages(self, stages, box)]
        if self.residual is not None:
            loads.append(self.residual.load(box))
        elif tables is not None:
            several = len(tables) > 1
            kind, part = "tables" if several else "table", Box((box.start[-1], 0), (box.size[-1], _BYTES))
            stored = self.derived.constant(f"{name}_{kind}", tables if several else tables[0])
            loads.append(Load.of(stored, kind, part if several else None))
        y = Local("y", TensorSpec(box.size, out.spec.dtype))
        kernel = Kernel(self.operator, self.attributes, (raw, *(load.local for load in loads)), (y,))
        return [*loads, kernel, Store(y, out, box)]
