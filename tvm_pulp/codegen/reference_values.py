"""Results of every layer of a network for given inputs, by the numpy references of the dialect."""

from collections.abc import Collection, Sequence

import numpy as np

from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.operator import OPERATORS

Values = dict[Tensor, np.ndarray]


def reference_values(network: Network, inputs: Sequence[np.ndarray], inexact: Collection[str] = ()) -> Values:
    """Values by the tensor that stores them.

    Absent is what numpy does not know to the last bit: results of float layers, of layers called in `inexact`, and what
    is made of those.
    """
    values: Values = {t.storage: array for t, array in zip(network.inputs, inputs, strict=True)}
    for layer in network.layers:
        for part in layer.parts or (layer,):
            made = None if part.is_float or layer.name in inexact else result_of(part, values)
            if made is not None:
                values[part.outputs[0].storage] = made
    return values


def value_of(values: Values, tensor: Tensor) -> np.ndarray | None:
    """A tensor in its own shape, views included."""
    held = tensor.storage.data if tensor.storage.kind == "constant" else values.get(tensor.storage)
    return None if held is None else np.asarray(held).reshape(tensor.spec.shape)


def result_of(layer: Layer, values: Values) -> np.ndarray | None:
    """The result of one operator as it is stored; None where it has no reference or an operand is unknown."""
    operands = [value_of(values, tensor) for tensor in layer.inputs]
    if layer.operator not in OPERATORS or len(layer.outputs) != 1 or any(o is None for o in operands):
        return None
    made = OPERATORS[layer.operator].reference(layer.attributes, [o for o in operands if o is not None])
    stored = layer.outputs[0].storage.spec
    return np.asarray(made).reshape(stored.shape).astype(stored.dtype, copy=False)
