"""Results of layers for given operands, by the numpy references of the dialect."""

from collections.abc import Mapping

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.operator import OPERATORS

Values = Mapping[Tensor, np.ndarray]


def operand_values(layer: Layer, values: Values) -> list[np.ndarray | None]:
    """Operands of a layer in order; None where nothing is known."""
    return [_value(tensor, values) for tensor in layer.inputs]


def layer_value(layer: Layer, values: Values) -> np.ndarray | None:
    """The layer's result, in the shape in which it is stored; None where there is no reference for it."""
    inside = dict(values)
    made: np.ndarray | None = None
    for part in layer.parts or (layer,):
        made = _result(part, inside)
        if made is None:
            return None
        inside[part.outputs[0].storage] = made
    return made


def _value(tensor: Tensor, values: Values) -> np.ndarray | None:
    held = tensor.storage.data if tensor.storage.kind == "constant" else values.get(tensor.storage)
    return None if held is None else np.asarray(held).reshape(tensor.spec.shape)


def _result(layer: Layer, values: Values) -> np.ndarray | None:
    operands = operand_values(layer, values)
    known = [operand for operand in operands if operand is not None]
    if layer.operator not in OPERATORS or len(layer.outputs) != 1 or len(known) != len(operands):
        return None
    made = OPERATORS[layer.operator].reference(layer.attributes, known)
    stored = layer.outputs[0].storage.spec
    return np.asarray(made).reshape(stored.shape).astype(stored.dtype)
