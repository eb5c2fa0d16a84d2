"""A product and the table behind it, where the activation unit computes exactly that table."""

from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal
from uma_backends.ita.activation_unit import unit_for
from uma_backends.ita.dense import DenseForm
from uma_backends.ita.ita_form import ENGINE, Context
from uma_backends.ita.linear_arithmetic import LinearArithmetic, arithmetic_of
from uma_backends.ita.reference import Gelu


def dense_activation_pattern() -> Any:
    """The look-up of what a product makes."""
    from tvm.relax.dpl import is_op, wildcard

    return is_op("tvm_pulp.qnn.lookup")(is_op("tvm_pulp.qnn.dense")(varg_default_wildcard=True), wildcard())


def dense_activation_strategy(region: Layer, context: Context) -> list[Form] | Refusal:
    """The product's form with another activation: as dense layers alone, the table is the engine's GELU or ReLU."""
    found = _arithmetic(region)
    if isinstance(found, str):
        return Refusal(ENGINE, found)
    name = "linear with GELU" if isinstance(found.activation, Gelu) else "linear with ReLU"
    return [DenseForm(region, found, context, name, first=region.parts[0])]


def _arithmetic(region: Layer) -> LinearArithmetic | str:
    dense, lookup = region.parts
    found = arithmetic_of(dense)
    if isinstance(found, str):
        return found
    table = lookup.inputs[1].data
    if table is None or table.dtype != np.int8 or dense.outputs[0].spec.dtype != "int8":
        return "the table behind it is not one of int8"
    if found.activation is not None:
        table = table[found.activation.apply(np.arange(-128, 128)) + 128]
    unit = unit_for(table)
    return "the table behind it is no GELU or ReLU of the engine" if unit is None else found.followed_by(unit)
