"""A matrix product and what is made of every byte of its result, as one region.

Behind a linear layer come sums of and products with a constant of every channel, and functions of a byte such as GELU,
each with a rounding of its own. Together they are a table for every channel, which the cores look up while they round
the array's 32-bit results.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tvm_pulp.planning.tiling.forms.conv_array import DenseForm, known_arithmetic
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import (
    Box,
    Form,
    Kernel,
    Load,
    Local,
    Refused,
    Step,
    Store,
    pattern_of,
    refuse_if,
    step_call,
)
from tvm_pulp.uma.conv_array.layer_arithmetic import Arithmetic
from uma_backends.neureka.dense_add import dense_add_table_strategy
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.neureka_form import Context

_RANGES = {"int8": (-128, 127), "uint8": (0, 255)}
_INT32 = 1 << 31
# Tables are made once, though annotation and planning ask both.
_KNOWN: WeakKeyDictionary[Layer, np.ndarray | None] = WeakKeyDictionary()
# Tables travel to L1 at every inference: fewer rows do not repay it.
_LEAST_ROWS = 32
# Parts of a region whose row is added before another function.
_WITH_A_SUM = 3


def table_patterns() -> list[tuple[str, Callable[[], Any]]]:
    """Products with a constant added, from either side, or not, and with another function behind."""

    def behind(name: str, places: int, inner: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
        def at(place: int) -> Callable[[], Any]:
            return lambda: pattern_of(name, *(inner() if i == place else None for i in range(2)))

        return {"" if place == 0 else "_turned": at(place) for place in range(places)}

    linear: dict[str, Callable[[], Any]] = {"dense": lambda: pattern_of("dense")}
    sums = {f"dense_added{side}": made for side, made in behind("add", 2, linear["dense"]).items()}
    found = dict(sums)
    for name, inner in {**linear, **sums}.items():
        for function, places in (("lookup", 1), ("qdq_mul", 2)):
            found |= {f"{name}_{function}{side}": made for side, made in behind(function, places, inner).items()}
    return list(found.items())


def dense_table_strategy(region: Layer, context: Context) -> list[Form]:
    """A product that the cores requantize, then functions of a byte, with constants of channels."""
    dense = region.parts[0]
    arithmetic = known_arithmetic(dense, context)
    if arithmetic.rest is None:
        undivided = "its rounding is not an addition and a shift"
        raise Refused("the array delivers bytes" if arithmetic.native else undivided)
    rule, product = Requant.of(dense.attributes), dense.outputs[0].spec
    refuse_if((rule.low, rule.high) != _RANGES.get(rule.out_dtype), "its result does not have the range of a byte")
    reach = arithmetic.rest.largest(arithmetic.reach) + np.abs(_add(arithmetic, rule))
    refuse_if((reach >= _INT32).any(), "its rounding needs more than 32 bits")
    refuse_if(product.shape[-1] % 4 != 0, "its channels are no multiple of four")
    rows = product.elements // product.shape[-1]
    if rows < _LEAST_ROWS and len(region.parts) == _WITH_A_SUM:
        return dense_add_table_strategy(region, context)
    refuse_if(rows < _LEAST_ROWS, f"{rows} rows do not repay a table for every channel")
    kernel = Kernel("requantize_table", {}, (Local("x", TensorSpec((1, 4), "int32")),), ())
    has_kernel = not isinstance(step_call(kernel, context.costs), Kernel)
    refuse_if(not has_kernel, "the cores have no kernel for a rounding with a table")
    if region not in _KNOWN:
        _KNOWN[region] = _tables(region)
    tables = _KNOWN[region]
    if tables is None:
        raise Refused("what follows it is no function of a byte and a constant of its channel")
    whole = replace(dense, name=region.name, outputs=region.outputs)
    name = "1x1 over rows, by a table" if len(tables) == 1 else "1x1 over rows, by tables of channels"
    return [DenseTableForm(whole, context, name, arithmetic, Mode.POINTWISE, tables=tables, first=rule)]


def _add(arithmetic: Arithmetic, rule: Requant) -> np.ndarray:
    """The summand of a rounding whose result is the place in a table."""
    assert arithmetic.rest is not None
    return np.asarray(arithmetic.rest.add - (rule.low << arithmetic.rest.shift))


def _tables(region: Layer) -> np.ndarray | None:
    """The bytes [channels or 1][256] that become of the product's, the smallest first; None where that is not all."""
    from tvm_pulp.qnn.operator import OPERATORS

    dense, *functions = region.parts
    product = dense.outputs[0]
    channels, source = product.spec.shape[-1], product
    low, _ = _RANGES[product.spec.dtype]
    values = np.broadcast_to((np.arange(256) + low).astype(product.spec.dtype)[:, None], (256, channels))
    for layer in functions:
        result = layer.outputs[0]
        places = [i for i, t in enumerate(layer.inputs) if t.storage is source.storage]
        if len(places) != 1 or result.spec.shape != product.spec.shape or result.spec.dtype not in _RANGES:
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
class DenseTableForm(DenseForm):
    """As DenseForm, with tables for the cores' part."""

    tables: np.ndarray | None = None
    first: Requant | None = None  # the rounding before the tables

    def finish(self, raw: Local, box: Box, taken: Any = ()) -> list[Step]:
        rest, tables, rule, out = self.arithmetic.rest, self.tables, self.first, self.layer.outputs[0]
        assert rest is not None and tables is not None and rule is not None
        first, channels, name = box.start[-1], box.size[-1], self.layer.name
        # The kernel takes four channels at a time.
        stages = np.stack([rest.shift, _add(self.arithmetic, rule)]).reshape(2, -1, 4).transpose(1, 0, 2)
        constants = self.derived.constant(f"{name}_stages", stages.reshape(-1).astype(np.int32))
        local = Local("stages", TensorSpec((2 * channels,), "int32"))
        loads: list[Step] = [Load(constants, Box((2 * first,), (2 * channels,)), local)]
        if len(tables) == 1:
            stored = self.derived.constant(f"{name}_table", tables[0])
            table, part = Local("table", TensorSpec((256,), "uint8")), Box((0,), (256,))
        else:
            stored = self.derived.constant(f"{name}_tables", tables)
            table, part = Local("tables", TensorSpec((channels, 256), "uint8")), Box((first, 0), (channels, 256))
        loads.append(Load(stored, part, table))
        y = Local("y", TensorSpec(box.size, out.spec.dtype))
        kernel = Kernel("requantize_table", {}, (raw, local, table), (y,))
        return [*loads, kernel, Store(y, out, box)]
