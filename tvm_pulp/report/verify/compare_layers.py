"""Compares what layers computed with a reference, each layer for itself.

A wrong layer makes all that follow it differ, and a rounding that may differ does so as well. Therefore every layer is
looked at twice with the dialect's own reference of it: for the operands that the program had, against what the program
computed; and for the framework's operands, against the framework's result. What is wrong is where it is wrong.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.report.verify.deviation import Deviation, deviation
from tvm_pulp.report.verify.find_tensor import Tensors
from tvm_pulp.report.verify.layer_table import LayerRow, LayerTable
from tvm_pulp.report.verify.layer_values import layer_value, operand_values
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
    own: dict[Tensor, np.ndarray] = dict(given)
    theirs: dict[Tensor, np.ndarray] = dict(given)
    tensors, rows = Tensors(reference.tensors), []
    outputs = {t.storage: t.source for t in network.outputs}
    for layer in network.layers:
        stored = layer.outputs[0].storage
        expected = layer_value(layer, own)
        anchored = expected if _same_operands(layer, own, theirs) else layer_value(layer, theirs)
        found = computed.get(layer.name)
        found = None if found is None else found.reshape(stored.spec.shape)
        known = anchored if anchored is not None else found
        names = tuple(n for n in (outputs.get(stored, ""), stored.source, layer.name) if n)
        source = None if known is None else tensors.find(known, names) or tensors.named(known, names)
        bound = bounds_lsb.get(layer.name, 0)
        rows.append(
            LayerRow(
                layer.name,
                layer.operator,
                engines.get(layer.name, ""),
                source.name if source is not None else "",
                _apart(found, expected),
                _apart(anchored, source.value) if source is not None else None,
                _apart(found, source.value) if source is not None else None,
                bound,
                reference.bound_lsb,
            )
        )
        held = found if found is not None else expected
        if held is not None:
            own[stored] = held
        if source is not None:
            theirs[stored] = source.value
        elif known is not None:
            theirs[stored] = known
    return LayerTable(reference.framework, tuple(rows))


def _apart(found: np.ndarray | None, expected: np.ndarray | None) -> Deviation | None:
    return None if found is None or expected is None else deviation(found, expected)


def _same_operands(layer: Layer, a: Mapping[Tensor, np.ndarray], b: Mapping[Tensor, np.ndarray]) -> bool:
    pairs = zip(operand_values(layer, a), operand_values(layer, b), strict=True)
    return all(x is y or (x is not None and y is not None and np.array_equal(x, y)) for x, y in pairs)
