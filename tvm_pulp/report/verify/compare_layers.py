"""Compares what layers computed with a reference, each layer for itself.

A wrong layer makes all that follow it differ, and a rounding that may differ does so as well. Therefore every layer is
looked at twice with the dialect's own reference of it: for the operands that the program had, against what the program
computed; and for the framework's operands, against the framework's result. What is wrong is where it is wrong.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tvm_pulp.codegen.reference_values import Values, result_of, value_of
from tvm_pulp.qnn.network import Layer, Network
from tvm_pulp.report.verify.find_tensor import Tensors
from tvm_pulp.report.verify.layer_table import Deviation, LayerRow, LayerTable, deviation
from tvm_pulp.report.verify.reference import Reference


def compare_layers(
    network: Network,
    inputs: Sequence[np.ndarray],
    computed: Mapping[str, np.ndarray],
    reference: Reference,
    engines: Mapping[str, str],
    bounds_lsb: Mapping[str, float],
) -> LayerTable:
    """A row per layer. `computed`: results by layer; `bounds_lsb`: how far layers may be off by their own rounding."""
    given = {t.storage: array for t, array in zip(network.inputs, inputs, strict=True)}
    # Values that the program had, and those of the framework, by the tensor that stores them.
    own: Values = dict(given)
    theirs: Values = dict(given)
    tensors, rows = Tensors(reference.tensors, reference.layers), []
    outputs = {t.storage: t.source for t in network.outputs}
    for layer in network.layers:
        stored = layer.outputs[0].storage
        expected = layer_value(layer, own)
        anchored = expected if _same_operands(layer, own, theirs) else layer_value(layer, theirs)
        found = computed[layer.name].reshape(stored.spec.shape) if layer.name in computed else None
        known = anchored if anchored is not None else found
        names = tuple(n for n in (outputs.get(stored, ""), stored.source, layer.name) if n)
        source = None
        if known is not None:
            # An output is what the framework returns, whatever else has its values.
            result = tensors.named(known, (outputs[stored],)) if stored in outputs else None
            source = result or tensors.find(known, names) or tensors.named(known, names)
        theirs_value = source.value if source is not None else None
        rows.append(
            LayerRow(
                layer.name,
                layer.operator,
                engines.get(layer.name, ""),
                source.name if source is not None else "",
                _apart(found, expected),
                _apart(anchored, theirs_value),
                _apart(found, theirs_value),
                bounds_lsb.get(layer.name, 0),
                reference.bound_lsb,
            )
        )
        held, theirs_held = (found if found is not None else expected), (theirs_value if source is not None else known)
        for values, value in ((own, held), (theirs, theirs_held)):
            if value is not None:
                values[stored] = value
    return LayerTable(reference.framework, tuple(rows))


def _apart(found: np.ndarray | None, expected: np.ndarray | None) -> Deviation | None:
    return None if found is None or expected is None else deviation(found, expected)


def _same_operands(layer: Layer, a: Values, b: Values) -> bool:
    pairs = [(value_of(a, tensor), value_of(b, tensor)) for tensor in layer.inputs]
    return all(x is y or (x is not None and y is not None and np.array_equal(x, y)) for x, y in pairs)


def layer_value(layer: Layer, values: Values) -> np.ndarray | None:
    """The layer's result, in the shape in which it is stored; None where there is no reference for it."""
    inside, made = dict(values), None
    for part in layer.parts or (layer,):
        made = result_of(part, inside)
        if made is None:
            return None
        inside[part.outputs[0].storage] = made
    return made
